//go:build !linux

package mpi

import "time"

// pause sleeps.
func pause(d time.Duration) { time.Sleep(d) }

// yield does nothing where that is unknown.
func yield() {}

// unread returns 0 where that is unknown.
func unread(int) int { return 0 }
