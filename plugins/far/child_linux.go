package far

import (
	"os/exec"
	"runtime"
	"syscall"

	"github.com/orepl/orepl/lang/later"
)

// starter starts workers on a thread that lives as long as this process: the system kills them at the end of the thread that
// started them.
var starter = later.Value[chan<- func()]{Make: func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range work {
			do()
		}
	}()
	return work
}}

// start starts a process that ends with this one, even if it is stopped then.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	starter.Get() <- func() { result <- cmd.Start() }
	return <-result
}
