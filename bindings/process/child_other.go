//go:build !linux

package process

import "os/exec"

// belong does nothing on this system.
func belong(*exec.Cmd) {}

// kill kills a program.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // fails if the program has ended
}
