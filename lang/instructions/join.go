package instructions

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/dop251/goja"
)

// Large is the number of bytes of a joined string from which a [Joiner] is asked.
const Large = 1 << 20

// A Joiner is asked before the instructions of a runtime join strings to a large one. It may throw.
type Joiner func(bytes uint64)

// joiners maps weak pointers of runtimes to weak pointers of their joiners.
var joiners sync.Map

// WatchJoins makes a runtime ask a joiner, which the caller must keep.
func WatchJoins(vm *goja.Runtime, j *Joiner) {
	key := weak.Make(vm)
	joiners.Store(key, weak.Make(j))
	runtime.AddCleanup(vm, func(key weak.Pointer[goja.Runtime]) { joiners.Delete(key) }, key)
}

// add adds numbers or joins strings.
func add(r *replacement, m *machine) {
	if x, y, ok := m.integers(); ok {
		if sum := x + y; -maxInt <= sum && sum <= maxInt {
			m.result(integer(sum))
			return
		}
	}
	m.join(2)
	r.run(m)
}

// concat joins the parts of a template, whose number is the instruction.
func concat(r *replacement, m *machine) {
	m.join(*(*int)(r.original.data))
	r.run(m)
}

// join asks the joiner of the runtime if the last n values of the stack are strings that make a large one.
func (m *machine) join(n int) {
	bytes, width := 0, 1
	top := *m.top()
	for _, v := range m.stack()[top-n : top] {
		switch w := wordsOf(v); w.table {
		case the.strings.ascii:
			bytes += len(*(*string)(w.data))
		case the.strings.wide:
			bytes, width = bytes+len(*(*[]uint16)(w.data)), 2
		case the.strings.imported:
			units := v.(goja.String).Length()
			if bytes += units; units != len(*(*string)(unsafe.Add(w.data, the.strings.text))) {
				width = 2
			}
		}
	}
	if bytes *= width; bytes < Large {
		return
	}
	vm := *(**goja.Runtime)(unsafe.Add(unsafe.Pointer(m), the.strings.runtime))
	if p, ok := joiners.Load(weak.Make(vm)); ok {
		if j := p.(weak.Pointer[Joiner]).Value(); j != nil {
			(*j)(uint64(bytes))
		}
	}
}
