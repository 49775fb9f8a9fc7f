// Package instructions replaces instructions of compiled programs that differ from ECMAScript. They are products, operations on
// bits, and stores into elements of integer arrays. They are also the beginning of finally blocks, calls of eval, and the early
// ends of optional chains. Those that join strings ask before they make a large one.
//
// An instruction of the interpreter is an interface value with one method. A replacement has a method table of its own, which
// names a function of this package. That does what differs and calls the interpreter's method for the rest.
package instructions

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/later"
)

// A table is the method table of an interface with one method, as Go's runtime lays it out.
type table struct {
	inter, typ unsafe.Pointer
	hash       uint32
	_          [4]byte
	method     uintptr
}

// words are the two words of an interface value.
type words struct {
	table *table
	data  unsafe.Pointer
}

func wordsOf(v goja.Value) words { return *(*words)(unsafe.Pointer(&v)) }

// A replacement is the data word of an instruction that replaces another.
type replacement struct {
	table    table
	original words
	method   func(unsafe.Pointer, *machine) // of the original
}

// run executes the original.
func (r *replacement) run(m *machine) { r.method(r.original.data, m) }

// layout holds the fields and the method tables of the interpreter's types.
type layout struct {
	code                   uintptr // field of a program
	stack, top, next, refs uintptr // fields of the machine
	machine                reflect.Type
	tries, frame, catch    uintptr // field of the machine; size of a try statement's frame; field of such a frame
	self, elements         uintptr // fields of an object, and of its part that is a typed array

	integer, float, bigInt, object *table // of values
	typedArray                     *table
	integers                       map[*table]bool // of the elements of integer arrays
	numeric                        *replacement    // converts the top of the stack like ToNumeric; it replaces nothing
	negativeZero                   goja.Value
	replaced                       map[*table]*replacement // by the table of the instruction
	state                          state
	programs                       sync.Map // maps tables of instructions to the offsets of programs in them
	strings                        stringLayout
}

// stringLayout holds what joining strings needs.
type stringLayout struct {
	ascii, wide, imported *table
	text, runtime         uintptr // fields of an imported string and of the machine
}

// the holds the layout that [Check] found.
var the layout

var errUnknown = errors.New("this version of goja keeps its instructions in another way; see lang/instructions")

// Check returns an error if the interpreter's instructions have another form than this package expects.
func Check() error {
	if !known.Get() {
		return errUnknown
	}
	return nil
}

// texts compile to each instruction that is replaced.
var texts = []string{
	"var a, b; b = a++; a * b; a & b; a | b; a ^ b; ~a; a << b; a >> b; a >>> b; a[b] = 0; b = (a[b] = 0); [a[b]] = []; a[b] ??= 1; b = (a[b] ??= 1);" +
		"try { } catch { } finally { } a + b; `${a}${b}`; [a, {}]; eval(0); eval(...[])",
	"'use strict'; var a, b; a[b] = 0; b = (a[b] = 0); eval(0); eval(...[])",
}

// integerArrays has an array of each type with integer elements.
const integerArrays = "new Int8Array(1), new Uint8Array(1), new Int16Array(1), new Uint16Array(1), new Int32Array(1), new Uint32Array(1)"

// functions replace instructions, by the names of their types.
var functions = later.Value[map[string]func(*replacement, *machine)]{Make: func() map[string]func(*replacement, *machine) {
	return map[string]func(*replacement, *machine){
		"_mul": product,
		"_and": and, "_or": or, "_xor": xor, "_sal": shiftLeft, "_sar": shiftRight, "_shr": shiftUnsigned, "_bnot": not,
		"_setElem": store, "_setElemStrict": store, "_setElemP": storeOnly, "_setElemStrictP": storeOnly,
		"_putValue": assign, "_putValueP": assignOnly,
		"_add": add, "concatStrings": concat, "_newObject": create, "newArray": create,
		"enterFinally": enterFinally,
		"callEval":     evaluateText, "callEvalStrict": evaluateText,
		"_callEvalVariadic": evaluateSpread, "_callEvalVariadicStrict": evaluateSpread,
	}
}}

var known = later.Value[bool]{Make: func() (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	field := func(t reflect.Type, name string, want reflect.Kind) uintptr {
		f, ok := t.FieldByName(name)
		if !ok || f.Type.Kind() != want || len(f.Index) != 1 {
			panic(name)
		}
		return f.Offset
	}
	field(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	vm, _ := reflect.TypeFor[goja.Runtime]().FieldByName("vm")
	the.machine = vm.Type.Elem()
	the.stack, the.top, the.next = field(the.machine, "stack", reflect.Slice), field(the.machine, "sp", reflect.Int), field(the.machine, "pc", reflect.Int)
	the.strings.runtime = field(the.machine, "r", reflect.Pointer)
	the.refs = field(the.machine, "refStack", reflect.Slice)
	the.tries = field(the.machine, "tryStack", reflect.Slice)
	frames, _ := the.machine.FieldByName("tryStack")
	the.frame, the.catch = frames.Type.Elem().Size(), field(frames.Type.Elem(), "catchPos", reflect.Int32)
	the.code = field(reflect.TypeFor[goja.Program](), "code", reflect.Slice)
	the.self = field(reflect.TypeFor[goja.Object](), "self", reflect.Interface)
	findState(field)
	r := goja.New()
	v, err := r.RunString("[1, 0.5, 1n, 'a', '\u20ac', -0, " + integerArrays + "]")
	if err != nil {
		return false
	}
	var values []goja.Value
	if err := r.ExportTo(v, &values); err != nil || len(values) != 12 {
		return false
	}
	the.integer, the.float, the.bigInt = wordsOf(values[0]).table, wordsOf(values[1]).table, wordsOf(values[2]).table
	imported := r.ToValue("\u20ac")
	the.strings.ascii, the.strings.wide, the.strings.imported = wordsOf(values[3]).table, wordsOf(values[4]).table, wordsOf(imported).table
	the.strings.text = field(reflect.TypeOf(imported).Elem(), "s", reflect.String)
	findTry()
	findOptional()
	the.negativeZero = values[5]
	array := values[6]
	the.object = wordsOf(array).table
	the.typedArray = selfOf(wordsOf(array)).table
	the.elements = field(reflect.ValueOf(array).Elem().FieldByName("self").Elem().Type().Elem(), "typedArray", reflect.Interface)
	the.integers = map[*table]bool{}
	for _, array := range values[6:] {
		self := selfOf(wordsOf(array))
		the.integers[(*words)(unsafe.Add(self.data, the.elements)).table] = true
	}
	the.replaced = map[*table]*replacement{}
	for _, text := range texts {
		find(text)
	}
	if the.numeric == nil || len(the.replaced) != len(functions.Get()) {
		return false
	}
	p := goja.MustCompile("", "var z = 0, f = () => z * -5; Object.is(f(), -0)", false)
	correct(p)
	v, err = r.RunProgram(p)
	return err == nil && v.ToBoolean()
}}

// find finds the instructions of a text that are to be replaced.
func find(text string) {
	p := goja.MustCompile("", text, false)
	code := reflect.ValueOf(p).Elem().FieldByName("code")
	for i, w := range codeOf(p) {
		name := code.Index(i).Elem().Type().Name()
		replace := functions.Get()[name]
		if replace == nil && name != "_toNumber" || the.replaced[w.table] != nil {
			continue
		}
		f := runtime.FuncForPC(w.table.method)
		if f == nil || !strings.HasSuffix(f.Name(), "(*"+name+").exec") {
			panic(name)
		}
		at := &w.table.method
		r := &replacement{table: *w.table, original: w, method: *(*func(unsafe.Pointer, *machine))(unsafe.Pointer(&at))}
		if name == "_toNumber" {
			the.numeric = r
			continue
		}
		r.table.method = **(**uintptr)(unsafe.Pointer(&replace))
		the.replaced[w.table] = r
	}
}

func codeOf(p *goja.Program) []words { return *(*[]words)(unsafe.Add(unsafe.Pointer(p), the.code)) }

// Correct replaces instructions of a program that has not run yet, and of the functions in it. If there is something to replace, it
// returns the error of [Check], and replaces nothing on an error.
func Correct(p *goja.Program) error {
	if !found.Load() && !concerned(p) {
		return nil
	}
	if err := Check(); err != nil {
		return err
	}
	found.Store(true)
	correct(p)
	return nil
}

var found atomic.Bool // the layout is known

// A kind says whether a type of instruction concerns this package: by itself, or by programs in it.
type kind struct {
	replaceable bool
	programs    []uintptr // offsets of the programs
}

var kinds sync.Map // maps types of instructions to *kind

// concerned reports whether a program has instructions to replace. It needs no layout, whose search takes longer than most short
// programs run.
func concerned(p *goja.Program) bool {
	code := reflect.ValueOf(p).Elem().FieldByName("code")
	if code.Kind() != reflect.Slice || code.Type().Elem().Kind() != reflect.Interface {
		return true
	}
	for i := range code.Len() {
		if code.Index(i).IsNil() {
			continue
		}
		in := code.Index(i).Elem()
		found, known := kinds.Load(in.Type())
		if !known {
			found, _ = kinds.LoadOrStore(in.Type(), kindOf(in.Type()))
		}
		k := found.(*kind)
		if k.replaceable {
			return true
		}
		for _, offset := range k.programs {
			if inner := *(**goja.Program)(unsafe.Add(in.UnsafePointer(), offset)); inner != nil && concerned(inner) {
				return true
			}
		}
	}
	return false
}

func kindOf(t reflect.Type) *kind {
	if name := t.Name(); functions.Get()[name] != nil || name == "try" || name == "_toNumber" || strings.HasPrefix(name, "jopt") {
		return &kind{replaceable: true}
	}
	return &kind{programs: programsOf(t)}
}

// programsOf returns the offsets of programs in a type of instruction, such as those that make functions.
func programsOf(t reflect.Type) []uintptr {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	return appendPrograms(nil, t.Elem(), 0)
}

// appendPrograms appends the offsets of programs in a struct at an offset, and in the structs that it embeds.
func appendPrograms(list []uintptr, t reflect.Type, at uintptr) []uintptr {
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Type == reflect.TypeFor[*goja.Program]():
			list = append(list, at+f.Offset)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			list = appendPrograms(list, f.Type, at+f.Offset)
		}
	}
	return list
}

func correct(p *goja.Program) {
	code := codeOf(p)
	var caught, chains []int // statements with try, and ends of optional chains
	for i := range code {
		w := &code[i]
		if w.table == nil {
			continue
		}
		if r := the.replaced[w.table]; r != nil {
			if w.data != r.original.data { // an instruction with an operand
				own := *r
				own.original = *w
				r = &own
			}
			*w = words{&r.table, unsafe.Pointer(r)}
			continue
		}
		if w.table == tries.table {
			caught = append(caught, i)
			continue
		}
		if _, ends := optional.jumps[w.table]; ends {
			chains = append(chains, i)
			continue
		}
		for _, offset := range programsIn(p, i, w.table) {
			if inner := *(**goja.Program)(unsafe.Add(w.data, offset)); inner != nil {
				correct(inner)
			}
		}
	}
	for _, i := range chains {
		balance(code, i)
	}
	for _, i := range caught {
		watchCatch(code, i)
	}
}

// programsIn returns the offsets of programs in an instruction.
func programsIn(p *goja.Program, i int, t *table) []uintptr {
	if list, ok := the.programs.Load(t); ok {
		return list.([]uintptr)
	}
	list := programsOf(reflect.ValueOf(p).Elem().FieldByName("code").Index(i).Elem().Type())
	the.programs.Store(t, list)
	return list
}
