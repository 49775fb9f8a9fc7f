//go:build !linux

package status

// kernelWatch sees nothing on this system.
type kernelWatch struct{ order []int }

func (*kernelWatch) start(string) bool { return false }
func (*kernelWatch) see(Report)        {}
func (*kernelWatch) wait(int) bool     { return false }
func (*kernelWatch) end()              {}
func (*kernelWatch) close()            {}
