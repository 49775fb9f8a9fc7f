package instructions

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
)

// optional holds instructions of optional chains. Where a chain ends early, the interpreter leaves values for its later calls on the
// stack. They are the marks of spread arguments, and this of calls whose function is the result of a call.
var optional struct {
	jumps      map[*table]optionalJump
	begin, end *table // begin and end a call with spread arguments
	text       *table // pushes a constant, such as a text
	spread     *table // spreads an argument
	undefined  *replacement
	callees    map[*table]bool // leave a function and its value of this on the stack
}

// An optionalJump describes an instruction that ends a chain early.
type optionalJump struct {
	call  bool // it belongs to an optional call, whose value of this it removes
	empty bool // it leaves no value
}

// optionalTexts compile to each of these instructions. The last text has those of callees.
var optionalTexts = []string{
	"function f(a) { [a?.b, a?.(), delete a?.b, delete a?.().b, a(...[]), '']; delete a?.b; delete a?.().b }",
	"var a; a.b(); a[a](); class A { #p; static m(a) { a.#p() } }",
}

// findOptional finds the instructions. If one is missing it panics, as findTry does; [Check] then returns an error.
func findOptional() {
	optional.jumps, optional.callees = map[*table]optionalJump{}, map[*table]bool{}
	for _, text := range optionalTexts {
		findOptionalIn(goja.MustCompile("", text, false))
	}
	if len(optional.jumps) != 6 || optional.begin == nil || optional.end == nil || optional.text == nil || optional.spread == nil || optional.undefined == nil || len(optional.callees) < 2 {
		panic("optional")
	}
}

func findOptionalIn(p *goja.Program) {
	code := reflect.ValueOf(p).Elem().FieldByName("code")
	for i, w := range codeOf(p) {
		typ := code.Index(i).Elem().Type()
		name := typ.Name()
		if typ.Kind() == reflect.Pointer {
			name = typ.Elem().Name()
		}
		switch {
		case strings.HasPrefix(name, "jopt"):
			if typ.Kind() != reflect.Int32 {
				panic(name)
			}
			kind := strings.TrimPrefix(name, "jopt")
			optional.jumps[w.table] = optionalJump{call: strings.Contains(kind, "c"), empty: strings.HasSuffix(kind, "P")}
		case name == "_startVariadic":
			optional.begin = w.table
		case name == "_endVariadic":
			optional.end = w.table
		case name == "_pushSpread":
			optional.spread = w.table
		case name == "loadVal":
			optional.text = w.table
		case name == "_loadUndef":
			at := &w.table.method
			optional.undefined = &replacement{table: *w.table, original: w, method: *(*func(unsafe.Pointer, *machine))(unsafe.Pointer(&at))}
		case strings.HasSuffix(name, "Callee"):
			optional.callees[w.table] = true
		}
		for _, offset := range programsIn(p, i, w.table) {
			if inner := *(**goja.Program)(unsafe.Add(w.data, offset)); inner != nil {
				findOptionalIn(inner)
			}
		}
	}
}

// An earlyEnd replaces the end of a chain that leaves other values on the stack than a whole chain.
type earlyEnd struct {
	replacement
	optionalJump
	surplus int // the number of values to remove below the result, or -1 if one is missing
}

// balance replaces an instruction that ends an optional chain early, if it would leave the stack unbalanced.
func balance(code []words, at int) {
	w := &code[at]
	jump := optional.jumps[w.table]
	target := at + int(*(*int32)(w.data))
	surplus, depth, call := 0, 0, jump.call
	for i := at + 1; i < target; i++ {
		switch code[i].table {
		case optional.begin:
			depth++
		case optional.end:
			if depth > 0 {
				depth--
				continue
			}
			surplus++
			if !call && isMarked(code, i) {
				surplus++
			}
			call = false
		}
	}
	if optional.callees[code[target-1].table] {
		surplus--
	}
	if surplus == 0 {
		return
	}
	method := &w.table.method
	e := &earlyEnd{replacement{table: *w.table, original: *w, method: *(*func(unsafe.Pointer, *machine))(unsafe.Pointer(&method))}, jump, surplus}
	end := endEarly
	e.table.method = **(**uintptr)(unsafe.Pointer(&end))
	*w = words{&e.table, unsafe.Pointer(e)}
}

// isMarked reports whether the last argument of a call is a spread empty text. The parser adds it to calls of results of calls.
func isMarked(code []words, end int) bool {
	w := code[end-3]
	if code[end-2].table != optional.spread || w.table != optional.text {
		return false
	}
	v := *(*goja.Value)(w.data)
	return wordsOf(v).table == the.strings.ascii && v.String() == ""
}

// endEarly ends an optional chain early, if its value is undefined or null, and leaves one value or none.
func endEarly(r *replacement, m *machine) {
	e := (*earlyEnd)(unsafe.Pointer(r))
	before := *m.next()
	r.run(m)
	if *m.next() == before+1 {
		return
	}
	if e.surplus < 0 {
		optional.undefined.run(m)
		*m.next()-- // it counts as an instruction
		return
	}
	if !e.empty {
		*m.slot(1 + e.surplus) = *m.slot(1)
	}
	*m.top() -= e.surplus
}
