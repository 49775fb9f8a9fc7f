//go:build !linux

package far

import "os/exec"

func start(cmd *exec.Cmd) error { return cmd.Start() }
