// Package inspect formats values of a script for display: nested, coloured, bounded, and without running code of the script.
// The exception is a custom print method, which [Options.Passive] disables.
package inspect

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/printable"
)

// Options bound and colour the printed text. A zero limit selects the default.
type Options struct {
	Depth     int // objects nested deeper are abbreviated; default 4; also Unlimited and TopOnly
	Items     int // elements or properties printed per object; default 100
	Width     int // maximum columns of a line; default 80
	MaxString int // bytes printed per quoted string; default 10000
	Colors    bool
	// Passive disables an object's custom print method, so that no code of the script runs.
	Passive bool
	// Brief shortens arrays of many lines to their ends, and prints elements of a Float32Array with the fewest digits that
	// distinguish them.
	Brief bool
	// Nested selects one-line output for a value inside another one. The inspector sets it for hooks.
	Nested bool
}

// Special values of Options.Depth.
const (
	Unlimited = -1
	TopOnly   = -2 // abbreviates nested objects
)

const (
	defaultDepth     = 4
	defaultItems     = 100
	defaultWidth     = 80
	defaultMaxString = 10000
)

// A Hook formats host objects. It returns false for other objects.
type Hook func(o *goja.Object, opts Options) (string, bool)

// Inspector formats values of one interpreter. It must be used on the interpreter's goroutine.
type Inspector struct {
	// Live, if set, returns the value to print for a host getter, or false for another getter. It must be set before printing.
	Live func(getter *goja.Object) (goja.Value, bool)
	// Calls, if set, returns the calls during which an error was made, as lines that each have a line break before them.
	Calls func(o *goja.Object) string

	vm   *goja.Runtime
	hook Hook
	// own holds the interpreter's builtins, saved before scripts can replace them.
	own    map[string]goja.Callable
	custom goja.Value // symbol of the custom print method, as in Node
}

// New returns an inspector. It must be called before scripts run, which may replace builtins. hook may be nil.
func New(vm *goja.Runtime, hook Hook) *Inspector {
	in := &Inspector{vm: vm, hook: hook, own: map[string]goja.Callable{}}
	take := func(from *goja.Object, class, name string) {
		in.own[class+"."+name], _ = goja.AssertFunction(from.Get(name))
	}
	object := vm.GlobalObject().Get("Object").(*goja.Object)
	take(object, "Object", "getOwnPropertyDescriptor")
	symbol := vm.GlobalObject().Get("Symbol").(*goja.Object)
	take(symbol, "Symbol", "for")
	in.custom = in.method("Symbol.for", symbol, vm.ToValue("nodejs.util.inspect.custom"))
	for class, name := range map[string]string{
		"Map": "forEach", "Set": "forEach", "Date": "toISOString", "Function": "toString",
		"Number": "valueOf", "String": "valueOf", "Boolean": "valueOf", "BigInt": "valueOf", "Symbol": "valueOf",
	} {
		take(vm.GlobalObject().Get(class).(*goja.Object).Get("prototype").(*goja.Object), class, name)
	}
	regexp := vm.GlobalObject().Get("RegExp").(*goja.Object).Get("prototype").(*goja.Object)
	for _, name := range append([]string{"source"}, regexpFlags...) {
		if get := internals.Getter(regexp, name); get != nil {
			in.own["RegExp."+name], _ = goja.AssertFunction(get)
		}
	}
	return in
}

// regexpFlags are the getters of a RegExp's flags, in the order of regexpLetters.
var (
	regexpFlags   = []string{"hasIndices", "global", "ignoreCase", "multiline", "dotAll", "unicode", "unicodeSets", "sticky"}
	regexpLetters = "dgimsuvy"
)

// regexp formats a regular expression with the interpreter's getters, because its toString would run code of the script. It
// returns "" if the object is none.
func (in *Inspector) regexp(o *goja.Object) string {
	source := in.method("RegExp.source", o)
	if source == nil {
		return ""
	}
	text := "/" + source.String() + "/"
	for i, name := range regexpFlags {
		if in.own["RegExp."+name] == nil {
			continue
		}
		if v := in.method("RegExp."+name, o); v != nil && v.ToBoolean() {
			text += regexpLetters[i : i+1]
		}
	}
	return text
}

// method calls a saved builtin on o. It returns nil if the call fails.
func (in *Inspector) method(name string, o *goja.Object, args ...goja.Value) goja.Value {
	v, err := in.own[name](o, args...)
	if err != nil {
		return nil
	}
	return v
}

// Text formats a value like console.log: a top-level string is not quoted.
func (in *Inspector) Text(v goja.Value, o Options) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return in.Value(v, o)
}

// Value formats a value with strings quoted.
func (in *Inspector) Value(v goja.Value, o Options) string {
	if o.Depth == 0 {
		o.Depth = defaultDepth
	}
	if o.Items == 0 {
		o.Items = defaultItems
	}
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.MaxString == 0 {
		o.MaxString = defaultMaxString
	}
	p := &printer{in: in, o: o}
	return p.value(v, 0)
}

var typeProxy = reflect.TypeFor[goja.Proxy]()

// A printer formats one value. It records the enclosing objects to detect cycles.
type printer struct {
	in   *Inspector
	o    Options
	path []*goja.Object
	// circular numbers the objects that contain themselves.
	circular map[*goja.Object]int
	printed  int // bytes so far
}

func (p *printer) paint(c color, s string) string {
	s = printable.Text(s) // names of functions, keys and classes
	if !p.o.Colors || s == "" {
		return s
	}
	return string(c) + s + "\x1b[0m"
}

type color string

const (
	yellow  color = "\x1b[33m" // numbers, booleans
	green   color = "\x1b[32m" // strings, symbols
	cyan    color = "\x1b[36m" // functions, special
	magenta color = "\x1b[35m" // dates, regular expressions
	gray    color = "\x1b[90m" // undefined, abbreviations
	bold    color = "\x1b[1m"  // null
	red     color = "\x1b[31m" // errors
)

func (p *printer) value(v goja.Value, depth int) string {
	switch v := v.(type) {
	case nil:
		return p.paint(gray, "undefined")
	case *goja.Symbol:
		return p.paint(green, "Symbol("+v.String()+")")
	case *goja.Object:
		return p.object(v, depth)
	case goja.String:
		return p.paint(green, quote(v.String(), p.o.MaxString))
	}
	switch {
	case goja.IsUndefined(v):
		return p.paint(gray, "undefined")
	case goja.IsNull(v):
		return p.paint(bold, "null")
	}
	s := v.String()
	if goja.IsNumber(v) {
		if s == "0" && isNegativeZero(v) {
			s = "-0"
		}
	} else if goja.IsBigInt(v) {
		s += "n"
	}
	return p.paint(yellow, s)
}

func isNegativeZero(v goja.Value) bool {
	f, ok := v.Export().(float64)
	return ok && f == 0 && 1/f < 0
}

// quote returns s as a literal with escapes. It uses single quotes, unless s contains them and can be in double quotes or
// backquotes without escapes. It cuts s after limit bytes, and adds the number of those left out.
func quote(s string, limit int) string {
	tail := ""
	if len(s) > limit {
		n := limit
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		tail = "… " + strconv.Itoa(len(s)-n) + " more bytes"
		s = s[:n]
	}
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 {
		if strings.IndexByte(s, '"') < 0 {
			q = '"'
		} else if strings.IndexByte(s, '`') < 0 && !strings.Contains(s, "${") {
			q = '`'
		}
	}
	var b strings.Builder
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			b.WriteString(`\x`)
			b.WriteString(strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(q)
	return b.String() + tail
}

// property is a property descriptor, read without running a getter.
type property struct {
	value    goja.Value
	get, set bool
	exists   bool
}

func (in *Inspector) property(o *goja.Object, key goja.Value) (p property) {
	desc, ok := in.method("Object.getOwnPropertyDescriptor", nil, o, key).(*goja.Object)
	if !ok {
		return p
	}
	p.exists = true
	if v := desc.Get("value"); v != nil {
		p.value = v
		return p
	}
	if getter, ok := desc.Get("get").(*goja.Object); ok && in.Live != nil {
		if v, known := in.Live(getter); known {
			p.value = v
			return p
		}
	}
	p.get = isObject(desc.Get("get"))
	p.set = isObject(desc.Get("set"))
	return p
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

// Data returns the value of a data property of o or its prototypes. It returns nil for a proxy, a missing property, or a getter
// that Live does not know. It runs no code of the script. The key is a string or a symbol.
func (in *Inspector) Data(o *goja.Object, key goja.Value) goja.Value { return in.inherited(o, key) }

// ClassName returns the name of the constructor of o, or "Object" if none is found. It returns "" if o is a proxy or has no
// prototype.
func (in *Inspector) ClassName(o *goja.Object) string {
	if o.ExportType() == typeProxy {
		return ""
	}
	return in.className(o)
}

// data returns the value of a data property of o or its prototypes, or nil, see inherited.
func (in *Inspector) data(o *goja.Object, name string) goja.Value {
	return in.inherited(o, in.vm.ToValue(name))
}

// inherited returns the value of a data property of o or its prototypes. It returns nil for a proxy, a missing property, or a
// getter that Live does not know, and after 100 prototypes.
func (in *Inspector) inherited(o *goja.Object, key goja.Value) goja.Value {
	for range 100 {
		if o.ExportType() == typeProxy {
			return nil
		}
		if p := in.property(o, key); p.exists {
			return p.value
		}
		if o = o.Prototype(); o == nil {
			return nil
		}
	}
	return nil
}

func (in *Inspector) text(o *goja.Object, name string) string {
	if s, ok := in.data(o, name).(goja.String); ok {
		return s.String()
	}
	return ""
}

// className returns the name of the constructor of o, or "Object" if none is found. It returns "" for an object without a
// prototype.
func (in *Inspector) className(o *goja.Object) string {
	proto := o.Prototype()
	if proto == nil {
		return ""
	}
	if c, ok := in.data(proto, "constructor").(*goja.Object); ok {
		if target := proxied(c); target != nil { // a script may wrap a class in a proxy
			c = target
		}
		if name := in.text(c, "name"); name != "" {
			return printable.Line(name)
		}
	}
	return "Object"
}

// proxied returns the target of a proxy without calling its handler, and nil for other objects and revoked proxies.
func proxied(o *goja.Object) *goja.Object {
	if o.ExportType() != typeProxy {
		return nil
	}
	p, _ := o.Export().(goja.Proxy)
	return p.Target()
}

// FunctionText returns a function's source text as written, or "" if the object is no function.
func (in *Inspector) FunctionText(o *goja.Object) string {
	if v := in.method("Function.toString", o); v != nil {
		return v.String()
	}
	return ""
}
