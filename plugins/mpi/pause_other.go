//go:build !linux

package mpi

import "time"

// pause sleeps.
func pause(d time.Duration) { time.Sleep(d) }

// yield does nothing on this system.
func yield() {}

// unread returns 0: the number is unknown on this system.
func unread(int) int { return 0 }
