package mpi

import "math/bits"

// cores is a set of processor cores of a machine, by their numbers in the operating system.
type cores [16]uint64

// add adds the cores of another set.
func (c *cores) add(other *cores) {
	for i, word := range other {
		c[i] |= word
	}
}

// count returns the number of cores.
func (c *cores) count() (n int) {
	for _, word := range c {
		n += bits.OnesCount64(word)
	}
	return n
}
