package process

import (
	"os/exec"
	"syscall"
)

// belong makes a program end with this process, however that ends, and gives it a group of its own: Ctrl-C at the
// terminal is the script's, which ends its programs.
func belong(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a program and those that it started.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
}
