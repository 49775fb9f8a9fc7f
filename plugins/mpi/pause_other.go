//go:build !linux

package mpi

import "time"

// pause sleeps.
func pause(d time.Duration) { time.Sleep(d) }

// yield does nothing where that is unknown.
func yield() {}
