package process

import (
	"os/exec"
	"syscall"
)

// belong makes cmd start its program in a process group of its own, so that only the script receives Ctrl-C. The kernel kills
// the program when this process ends for any reason.
func belong(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill kills a program and its process group.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if the program has ended
}
