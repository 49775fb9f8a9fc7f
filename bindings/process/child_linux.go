package process

import (
	"os/exec"
	"syscall"
)

// belong ties a program to this process: it is killed when this process ends, however that ends. It is in a process
// group of its own. Ctrl-C at the terminal is the script's, which ends its programs.
func belong(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a program and those that it started.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
}
