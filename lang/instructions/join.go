package instructions

import (
	"unsafe"

	"github.com/dop251/goja"
)

// add adds numbers or joins strings. Before the original makes a large string, it calls the watcher.
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

// concat joins the parts of a template. Their number is the value of the instruction. It calls the watcher like add.
func concat(r *replacement, m *machine) {
	m.join(*(*int)(r.original.data))
	r.run(m)
}

// join calls the watcher if the last n values of the stack are strings that make a large one.
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
	if w := m.watcher(); w != nil && w.Join != nil {
		w.Join(uint64(bytes))
	}
}
