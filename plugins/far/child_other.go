//go:build !linux

package far

import "os/exec"

func start(cmd *exec.Cmd) error { return cmd.Start() }

// stopped returns false, since it cannot tell on this system.
func stopped(int) bool { return false }
