//go:build !linux

// Package members finds the processes of an MPI job on this machine.
package members

// Member is a rank of the job that has processes on this machine.
type Member struct {
	PIDs    []int
	Stopped bool // a signal or a debugger has stopped one of them
	Traced  bool // a debugger has
}

// Local returns false: it cannot tell on this platform.
func Local() (members map[int]Member, ok bool) { return nil, false }

// Running returns false: it cannot tell on this platform.
func Running(int) bool { return false }
