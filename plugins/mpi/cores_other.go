//go:build !linux

package mpi

// usable returns no cores on this system.
func usable() cores { return cores{} }
