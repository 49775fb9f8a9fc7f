//go:build !linux

package process

import "os/exec"

// belong has nothing to do here.
func belong(*exec.Cmd) {}

// kill ends a program.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}
