package instructions

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// tries is the instruction that begins a try statement.
var tries struct {
	table *table
	catch uintptr // field: the distance to the catch block, or 0
	drop  *table  // the instruction that begins a catch block without a parameter
}

// findTry finds the instructions of tries, or panics if the interpreter has others.
func findTry() {
	p := goja.MustCompile("", "try { } catch { }", false)
	code := reflect.ValueOf(p).Elem().FieldByName("code")
	for i, w := range codeOf(p) {
		if typ := code.Index(i).Elem().Type(); typ.Name() == "try" {
			f, ok := typ.FieldByName("catchOffset")
			if !ok || f.Type.Kind() != reflect.Int32 {
				break
			}
			tries.table, tries.catch = w.table, f.Offset
			tries.drop = catchOf(codeOf(p), i).table
			return
		}
	}
	panic("try")
}

// catchOf returns the first instruction of the catch block of a try statement, or nil if there is none.
func catchOf(code []words, at int) *words {
	distance := *(*int32)(unsafe.Add(code[at].data, tries.catch))
	if distance <= 0 {
		return nil
	}
	return &code[at+int(distance)]
}

// watchCatch replaces the first instruction of the catch block of a try statement, if it has a parameter.
func watchCatch(code []words, at int) {
	first := catchOf(code, at)
	if first == nil || first.table == tries.drop {
		return
	}
	method := &first.table.method
	r := &replacement{table: *first.table, original: *first, method: *(*func(unsafe.Pointer, *machine))(unsafe.Pointer(&method))}
	catch := catchValue
	r.table.method = **(**uintptr)(unsafe.Pointer(&catch))
	*first = words{&r.table, unsafe.Pointer(r)}
}

// catchValue passes the caught value, which is on the stack, to the watcher, and begins the catch block.
func catchValue(r *replacement, m *machine) {
	if w := m.watcher(); w != nil && w.Catch != nil {
		w.Catch(*m.slot(1))
	}
	r.run(m)
}
