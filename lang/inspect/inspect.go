// Package inspect prints values of a script for a person: nested, coloured, bounded, and without running any code of
// the script, so that printing never changes anything.
package inspect

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// Options bound and colour the printed text. The zero value of a limit means its default.
type Options struct {
	Depth     int // nested objects below this depth are abbreviated; default 4; also Unlimited and TopOnly
	Items     int // elements or properties printed of one object; default 100
	Width     int // columns that one line may take; default 80
	MaxString int // characters printed of one nested string; default 10000
	Colors    bool
	// Passive leaves an object's own method of printing uncalled, so that nothing of the script runs.
	Passive bool
	// Nested says that the value is part of another one, and is printed on one line. The inspector sets it for hooks.
	Nested bool
}

// Special depths.
const (
	Unlimited = -1
	TopOnly   = -2 // nested objects are abbreviated
)

const (
	defaultDepth     = 4
	defaultItems     = 100
	defaultWidth     = 80
	defaultMaxString = 10000
)

// A Hook prints objects of the host. It returns false for an object that it does not know.
type Hook func(o *goja.Object, opts Options) (string, bool)

// Inspector prints values of one interpreter. It is bound to the interpreter's goroutine.
type Inspector struct {
	// Live, if set, returns the value to print for a getter of the host. Set it before printing.
	Live func(getter *goja.Object) (goja.Value, bool)

	vm   *goja.Runtime
	hook Hook
	// own are the interpreter's functions, taken before a script can replace them.
	own    map[string]goja.Callable
	custom goja.Value // the symbol of a method by which an object says how it is printed, as in Node
}

// New makes an inspector. hook may be nil.
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
	for class, names := range map[string][]string{
		"DataView": viewParts, "RegExp": append([]string{"source"}, regexpFlags...),
	} {
		proto := vm.GlobalObject().Get(class).(*goja.Object).Get("prototype").(*goja.Object)
		for _, name := range names {
			if desc, ok := in.method("Object.getOwnPropertyDescriptor", nil, proto, vm.ToValue(name)).(*goja.Object); ok {
				if get, ok := goja.AssertFunction(desc.Get("get")); ok {
					in.own[class+"."+name] = get
				}
			}
		}
	}
	return in
}

// viewParts are the getters of a DataView that are shown.
var viewParts = []string{"byteLength", "byteOffset", "buffer"}

// regexpFlags are the getters of a RegExp's flags, in the order of their letters.
var (
	regexpFlags   = []string{"global", "ignoreCase", "multiline", "dotAll", "unicode", "sticky"}
	regexpLetters = "gimsuy"
)

// regexp writes a regular expression by the interpreter's getters: its method toString would call the script's.
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

// method calls one of the interpreter's functions on o. It returns nil if the call fails.
func (in *Inspector) method(name string, o *goja.Object, args ...goja.Value) goja.Value {
	v, err := in.own[name](o, args...)
	if err != nil {
		return nil
	}
	return v
}

// Text prints a value as console.log does: a string at the top appears as it is.
func (in *Inspector) Text(v goja.Value, o Options) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return in.Value(v, o)
}

// Value prints a value; strings are quoted.
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

// A printer prints one value. It knows the objects around the one being printed, to notice circles.
type printer struct {
	in   *Inspector
	o    Options
	path []*goja.Object
	// circular numbers the objects that were met again below themselves.
	circular map[*goja.Object]int
	printed  int // bytes so far
}

func (p *printer) paint(c color, s string) string {
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

// quote chooses the quotes that need the least escaping.
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

// property is a property's descriptor, read without running a getter.
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

// Data returns the value of a plain property of o or its prototypes, and nil for a getter, a proxy or no property. No
// code of the script runs. The key is a string or a symbol.
func (in *Inspector) Data(o *goja.Object, key goja.Value) goja.Value { return in.inherited(o, key) }

// ClassName returns the name of the constructor that made o; "" if its prototype is none or a proxy.
func (in *Inspector) ClassName(o *goja.Object) string {
	if o.ExportType() == typeProxy {
		return ""
	}
	return in.className(o)
}

// data returns the value of a plain property of o or its prototypes; getters count as absent.
func (in *Inspector) data(o *goja.Object, name string) goja.Value {
	return in.inherited(o, in.vm.ToValue(name))
}

// inherited is data for a key that may be a symbol. It asks no proxy.
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

// className returns the name of the constructor that made o, or "" for an object without a prototype.
func (in *Inspector) className(o *goja.Object) string {
	proto := o.Prototype()
	if proto == nil {
		return ""
	}
	if c, ok := in.data(proto, "constructor").(*goja.Object); ok {
		if target := proxied(c); target != nil { // an engine with limits puts one before constructors
			c = target
		}
		if name := in.text(c, "name"); name != "" {
			return name
		}
	}
	return "Object"
}

// proxied returns the target of a proxy, without asking it; nil for other objects and revoked proxies.
func proxied(o *goja.Object) *goja.Object {
	if o.ExportType() != typeProxy {
		return nil
	}
	p, _ := o.Export().(goja.Proxy)
	return p.Target()
}

// FunctionText returns a function's text, exactly as it was written.
func (in *Inspector) FunctionText(o *goja.Object) string {
	if v := in.method("Function.toString", o); v != nil {
		return v.String()
	}
	return ""
}
