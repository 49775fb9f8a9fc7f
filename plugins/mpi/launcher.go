package mpi

import (
	"errors"
	"os"
	"time"

	"github.com/orepl/orepl/runtime/fatal"
)

// launcherLook is the interval of looks at the launcher's process.
const launcherLook = 500 * time.Millisecond

// EndWithLauncher ends this process by [fatal.End] if the launcher that started it ends, as after a kill. Otherwise a script would
// run on without a launcher that waits for it.
func EndWithLauncher() {
	parent := os.Getppid()
	if !Launched() {
		return
	}
	go func() {
		for os.Getppid() == parent {
			time.Sleep(launcherLook)
		}
		fatal.End(errors.New("the launcher of the MPI job has ended"))
	}()
}
