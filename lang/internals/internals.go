// Package internals accesses unexported fields of the interpreter's objects: the Go functions of builtins, the characters of
// strings, and the parts of regular expressions. [Check] reports whether the interpreter's types are as expected.
//
// # Design
//
// Checks are put into the interpreter's functions, since new functions would be other objects than those that it compares
// with. A test fails if a later version of the interpreter names its fields otherwise.
//
// The stacks of an asynchronous function that an interrupt ended are emptied by reflection; otherwise no later await would
// end.
package internals

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/later"
)

// A Native points to the fields that hold the Go functions of a builtin. Replacing them keeps the function object, which the
// interpreter compares and scripts reach in many ways. *Construct is nil if the builtin is no constructor.
type Native struct {
	Call      *func(goja.FunctionCall) goja.Value
	Construct *func([]goja.Value, *goja.Object) *goja.Object
}

// A nativeLayout holds the field offsets of a type of function object; known is false for other objects.
type nativeLayout struct {
	call, construct uintptr
	known           bool
}

var (
	nativeLayouts sync.Map // maps reflect.Type to nativeLayout
	selfField, _  = reflect.TypeFor[goja.Object]().FieldByName("self")
)

func layoutOf(object reflect.Type) nativeLayout {
	if l, ok := nativeLayouts.Load(object); ok {
		return l.(nativeLayout)
	}
	var l nativeLayout
	if object.Kind() == reflect.Pointer && object.Elem().Kind() == reflect.Struct {
		f, hasCall := object.Elem().FieldByName("f")
		c, hasConstruct := object.Elem().FieldByName("construct")
		l.call, l.construct = f.Offset, c.Offset
		l.known = hasCall && hasConstruct && len(f.Index) == 1 && len(c.Index) == 1 &&
			f.Type == reflect.TypeFor[func(goja.FunctionCall) goja.Value]() &&
			c.Type == reflect.TypeFor[func([]goja.Value, *goja.Object) *goja.Object]()
	}
	nativeLayouts.Store(object, l)
	return l
}

// Self returns the interpreter's representation of an object. It returns the zero Value for nil, and if the interpreter's
// layout is unknown.
func Self(o *goja.Object) reflect.Value {
	if o == nil || selfField.Type == nil || selfField.Type.Kind() != reflect.Interface {
		return reflect.Value{}
	}
	return reflect.ValueOf(o).Elem().FieldByIndex(selfField.Index).Elem()
}

// At returns the object at a path of names from an object, such as "Proxy.revocable". It returns nil if path is another
// expression, or no object is there.
func At(o *goja.Object, path string) *goja.Object {
	for name := range strings.SplitSeq(path, ".") {
		if o == nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return nil
		}
		o, _ = o.Get(name).(*goja.Object)
	}
	return o
}

// NativeOf returns pointers to the Go functions that implement a builtin function. It returns false for other objects.
func NativeOf(o *goja.Object) (Native, bool) {
	self := Self(o)
	if !self.IsValid() {
		return Native{}, false
	}
	l := layoutOf(self.Type())
	if !l.known {
		return Native{}, false
	}
	at := self.UnsafePointer()
	return Native{
		Call:      (*func(goja.FunctionCall) goja.Value)(unsafe.Add(at, l.call)),
		Construct: (*func([]goja.Value, *goja.Object) *goja.Object)(unsafe.Add(at, l.construct)),
	}, true
}

// words are the two words of an interface value.
type words struct{ tab, data unsafe.Pointer }

func wordsOf(v goja.Value) words { return *(*words)(unsafe.Pointer(&v)) }

func selfOf(o *goja.Object) words {
	return *(*words)(unsafe.Add(unsafe.Pointer(o), selfField.Offset))
}

// layout holds what differs between versions of the interpreter.
type layout struct {
	ascii, unicode, imported unsafe.Pointer // type words of the kinds of strings
	importedText             uintptr        // fields of an imported string
	importedUnits            uintptr

	array           unsafe.Pointer
	arrayValues     uintptr
	arrayCount      uintptr
	regexp, guarded unsafe.Pointer // type words of a regular expression, and of the prototype of regular expressions if unchanged
	pattern         uintptr        // fields of a regular expression
	source          uintptr
	standard        uintptr
	propNames       uintptr
	values          uintptr
	objectValues    uintptr        // field of a plain object
	accessor        unsafe.Pointer // type word of an accessor
	getter          uintptr
	guardedProps    uintptr
	patternType     reflect.Type
	wrapper         uintptr // fields of a pattern
	wrapper2        uintptr
	flags           [6]uintptr // gimsuy
	known           bool
}

var errUnknown = errors.New("this version of goja keeps strings and regular expressions in another way; see lang/internals")

// Unknown returns an error about a builtin whose function was not found.
func Unknown(name string) error {
	return fmt.Errorf("this version of goja keeps builtins in another way: lang/internals does not find the function of %s", name)
}

// Check returns an error if the interpreter's types have other fields than this package expects.
func Check() error {
	if !known.Get().known {
		return errUnknown
	}
	return nil
}

var known = later.Value[layout]{Make: func() (l layout) {
	defer func() {
		if recover() != nil {
			l.known = false
		}
	}()
	vm := goja.New()
	v, err := vm.RunString(`[[1, 2], 'ab', '\ud800\u1234', /(?=a)/]`)
	if err != nil {
		panic(err)
	}
	examples := v.(*goja.Object)
	field := func(t reflect.Type, name string, kind reflect.Kind) uintptr {
		f, ok := t.FieldByName(name)
		if !ok || f.Type.Kind() != kind {
			panic(name)
		}
		offset := uintptr(0)
		for i := range f.Index {
			offset += t.FieldByIndex(f.Index[:i+1]).Offset
		}
		return offset
	}
	ascii, unicode, imported := examples.Get("1"), examples.Get("2"), vm.ToValue("a text of more than sixteen bytes")
	if reflect.TypeOf(ascii).Kind() != reflect.String || reflect.TypeOf(unicode).Kind() != reflect.Slice || reflect.TypeOf(imported).Kind() != reflect.Pointer {
		return l
	}
	l.ascii, l.unicode, l.imported = wordsOf(ascii).tab, wordsOf(unicode).tab, wordsOf(imported).tab
	text := reflect.TypeOf(imported).Elem()
	l.importedText, l.importedUnits = field(text, "s", reflect.String), field(text, "u", reflect.Slice)

	array := examples.Get("0").(*goja.Object)
	l.array = selfOf(array).tab
	l.arrayCount = field(Self(array).Type().Elem(), "objCount", reflect.Int)
	l.arrayValues = field(Self(array).Type().Elem(), "values", reflect.Slice)
	rx := examples.Get("3").(*goja.Object)
	self := Self(rx).Type().Elem()
	l.regexp = selfOf(rx).tab
	l.guarded = selfOf(rx.Prototype()).tab
	l.pattern, l.source = field(self, "pattern", reflect.Pointer), field(self, "source", reflect.Interface)
	l.standard, l.propNames = field(self, "standard", reflect.Bool), field(self, "propNames", reflect.Slice)
	l.values = field(self, "values", reflect.Map)
	l.objectValues = field(Self(vm.NewObject()).Type().Elem(), "values", reflect.Map)
	global := (*(*map[string]goja.Value)(unsafe.Add(selfOf(rx.Prototype()).data, l.values)))["global"]
	l.accessor = wordsOf(global).tab
	l.getter = field(reflect.TypeOf(global).Elem(), "getterFunc", reflect.Pointer)
	l.guardedProps = field(Self(rx.Prototype()).Type().Elem(), "guardedProps", reflect.Map)
	f, _ := self.FieldByName("pattern")
	l.patternType = f.Type.Elem()
	wrapper, _ := l.patternType.FieldByName("regexpWrapper")
	if !wrapper.Type.Elem().ConvertibleTo(reflect.TypeFor[regexp.Regexp]()) {
		return l
	}
	l.wrapper = field(l.patternType, "regexpWrapper", reflect.Pointer)
	l.wrapper2 = field(l.patternType, "regexp2Wrapper", reflect.Pointer)
	for i, name := range []string{"global", "ignoreCase", "multiline", "dotAll", "unicode", "sticky"} {
		l.flags[i] = field(l.patternType, name, reflect.Bool)
	}
	l.known = true
	lp := &l
	if a, _, ok := lp.text(ascii); !ok || string(a) != "ab" {
		l.known = false
	}
	if a, _, ok := lp.text(imported); !ok || string(a) != imported.String() {
		l.known = false
	}
	if _, u, ok := lp.text(unicode); !ok || len(u) != 2 || u[0] != 0xD800 || u[1] != 0x1234 {
		l.known = false
	}
	return l
}}

// Text returns the characters of a string: as bytes if all are ASCII, else as UTF-16 units. They must not be changed.
func Text(s goja.String) (ascii []byte, units []uint16) {
	if a, u, ok := layoutPointer.Get().text(s); ok {
		return a, u
	}
	units = make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	return nil, units
}

func (l *layout) text(v goja.Value) (ascii []byte, units []uint16, ok bool) {
	w := wordsOf(v)
	switch w.tab {
	case l.ascii:
		s := *(*string)(w.data)
		return unsafe.Slice(unsafe.StringData(s), len(s)), nil, true
	case l.unicode:
		u := *(*[]uint16)(w.data)
		return nil, u[1:], true // the first is a mark
	case l.imported:
		_ = v.(goja.String).Length() // reads the text
		if u := *(*[]uint16)(unsafe.Add(w.data, l.importedUnits)); u != nil {
			return nil, u[1:], true
		}
		s := *(*string)(unsafe.Add(w.data, l.importedText))
		return unsafe.Slice(unsafe.StringData(s), len(s)), nil, true
	}
	return nil, nil, false
}

// A RegExp is the interpreter's representation of a regular expression.
type RegExp struct {
	self   unsafe.Pointer
	layout *layout
}

var layoutPointer = later.Value[*layout]{Make: func() *layout {
	l := known.Get()
	return &l
}}

// RegExpOf returns the interpreter's representation of a regular expression, or false for other values.
func RegExpOf(v goja.Value) (RegExp, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil {
		return RegExp{}, false
	}
	l := layoutPointer.Get()
	w := selfOf(o)
	if w.tab != l.regexp {
		return RegExp{}, false
	}
	return RegExp{w.data, l}, true
}

func (r RegExp) pattern() unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Add(r.self, r.layout.pattern))
}

// Matcher returns the pointers to what matches, each of which may be nil. The first points to a [regexp.Regexp] or to a struct that
// begins with one, see [RegExp.SetMatcher]; the second to the matcher of another library.
func (r RegExp) Matcher() (unsafe.Pointer, unsafe.Pointer) {
	p := r.pattern()
	return *(*unsafe.Pointer)(unsafe.Add(p, r.layout.wrapper)), *(*unsafe.Pointer)(unsafe.Add(p, r.layout.wrapper2))
}

// SetMatcher replaces the pattern by one that matches with first, which may be the first field of a larger struct. The new pattern has
// none of the interpreter's flags.
func (r RegExp) SetMatcher(first *regexp.Regexp) {
	fresh := reflect.New(r.layout.patternType).UnsafePointer()
	*(**regexp.Regexp)(unsafe.Add(fresh, r.layout.wrapper)) = first
	*(*unsafe.Pointer)(unsafe.Add(r.self, r.layout.pattern)) = fresh
}

// Source returns the text of the pattern.
func (r RegExp) Source() goja.String { return *r.source() }

func (r RegExp) source() *goja.String { return (*goja.String)(unsafe.Add(r.self, r.layout.source)) }

// SetSource replaces the text of the pattern.
func (r RegExp) SetSource(s goja.String) { *r.source() = s }

// Flags returns the interpreter's flags of the pattern.
func (r RegExp) Flags() string {
	var b []byte
	for i, offset := range r.layout.flags {
		if *(*bool)(unsafe.Add(r.pattern(), offset)) {
			b = append(b, "gimsuy"[i])
		}
	}
	return string(b)
}

// IsPlain reports whether the regular expression o has no own properties but lastIndex, and proto as its prototype. The
// properties of proto that [Guard] lists must be unchanged.
func (r RegExp) IsPlain(o, proto *goja.Object) bool {
	return *(*bool)(unsafe.Add(r.self, r.layout.standard)) && len(*(*[]string)(unsafe.Add(r.self, r.layout.propNames))) == 1 &&
		o.Prototype() == proto && selfOf(proto).tab == r.layout.guarded
}

// Guard adds names to the properties of proto, the prototype of regular expressions, whose change [RegExp.IsPlain] detects. It does
// nothing if proto has been changed.
func Guard(proto *goja.Object, names ...string) {
	l := layoutPointer.Get()
	w := selfOf(proto)
	if w.tab != l.guarded {
		return
	}
	guarded := *(*map[string]struct{})(unsafe.Add(w.data, l.guardedProps))
	for _, name := range names {
		guarded[name] = struct{}{}
	}
}

// ArrayValues returns the elements of a dense array; nil elements are holes, and others may be accessors, see [IsAccessor].
// They must not be changed. It returns false for other objects.
func ArrayValues(o *goja.Object) ([]goja.Value, bool) {
	l := layoutPointer.Get()
	if o == nil {
		return nil, false
	}
	w := selfOf(o)
	if w.tab != l.array {
		return nil, false
	}
	return *(*[]goja.Value)(unsafe.Add(w.data, l.arrayValues)), true
}

// Recount corrects the interpreter's number of elements of a dense array. A builtin that made the array may have counted
// missing ones.
func Recount(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok {
		return
	}
	values, ok := ArrayValues(o)
	if !ok || !slices.Contains(values, nil) {
		return
	}
	n := 0
	for _, v := range values {
		if v != nil {
			n++
		}
	}
	*(*int)(unsafe.Add(selfOf(o).data, layoutPointer.Get().arrayCount)) = n
}

// Getter returns the getter of a property of proto. It returns nil if there is none, or proto is not the unchanged prototype of
// regular expressions.
func Getter(proto *goja.Object, name string) *goja.Object {
	l := layoutPointer.Get()
	w := selfOf(proto)
	if w.tab != l.guarded {
		return nil
	}
	v := wordsOf((*(*map[string]goja.Value)(unsafe.Add(w.data, l.values)))[name])
	if v.tab != l.accessor || v.data == nil {
		return nil
	}
	return *(**goja.Object)(unsafe.Add(v.data, l.getter))
}

// IsAccessor reports whether an element of ArrayValues is a property with attributes or accessors instead of a value.
func IsAccessor(v goja.Value) bool { return v != nil && wordsOf(v).tab == layoutPointer.Get().accessor }
