package plan

import "fmt"

// UnsupportedError says what the compiler does not have that a kernel needs.
type UnsupportedError struct {
	Kernel string
	Site   int // position in [ir.Kernel.Sites]
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: not compiled to vector code: %s", e.Kernel, e.What)
}
