package heap

// digitCount is the number of octal digits of an owner's number.
const digitCount = 4

const digitPrefix = "github.com/orepl/orepl/lang/heap.digit"

// digits are functions whose names are octal digits. The frames of their calls on a stack spell an owner's number, with the
// lowest digit outermost.
var digits [8]func(rest uint32, left int, fn func())

func init() {
	digits = [8]func(uint32, int, func()){digit0, digit1, digit2, digit3, digit4, digit5, digit6, digit7}
}

func next(rest uint32, left int, fn func()) {
	if left == 0 {
		fn()
		return
	}
	digits[rest&7](rest>>3, left-1, fn)
}

//go:noinline
func digit0(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit1(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit2(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit3(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit4(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit5(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit6(rest uint32, left int, fn func()) { next(rest, left, fn) }

//go:noinline
func digit7(rest uint32, left int, fn func()) { next(rest, left, fn) }
