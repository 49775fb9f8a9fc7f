//go:build !linux

package far

import "os/exec"

func start(cmd *exec.Cmd) error { return cmd.Start() }

// stopped reports whether a process is known to be stopped.
func stopped(int) bool { return false }
