package builtins

import (
	"regexp"
	"strings"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/regex"
)

// regExps is the class RegExp. The interpreter makes its objects; this package compiles and matches their patterns.
type regExps struct {
	*set
	class, proto *goja.Object
	exec         *goja.Object
	alloc        func([]goja.Value, *goja.Object) *goja.Object
	matcher      regex.Matcher
	literals     map[unsafe.Pointer]*compiled // by the interpreter's pattern of a literal
	texts        map[string]*compiled         // by flags, a slash, and the text

	iterators     *slots // of matchAll; nil before the first
	iteratorProto *goja.Object
	originalAll   func(goja.FunctionCall) goja.Value
}

// Limits of the maps of compiled patterns, which are emptied when they are full, and of memory. Patterns are kept in texts if they are
// ASCII and shorter than mostTextSize characters.
const (
	mostLiterals = 4096
	mostTexts    = 256
	mostTextSize = 1024
	patternSize  = 1 << 10 // maximum memory for compiling a character of a pattern, in bytes
	keptFrames   = 1 << 12 // number of frames of a stack that is kept for the next match
)

// A compiled is a compiled pattern. The interpreter refers to its first field, which never matches.
type compiled struct {
	first   regexp.Regexp
	program *regex.Program
	flags   regex.Flags
	text    string // the flags as letters, in alphabetic order
	source  goja.String
}

var never = regexp.MustCompile(`[^\x{0}-\x{10FFFF}]`)

// compiledMark is the text of never, by which patterns of this package are recognized.
var compiledMark = never.String()

func (b *set) installRegExp() error {
	r := &regExps{set: b, class: b.object("RegExp"), literals: map[unsafe.Pointer]*compiled{}, texts: map[string]*compiled{}}
	r.proto = r.class.Get("prototype").(*goja.Object)
	r.exec = r.proto.Get("exec").(*goja.Object)
	r.matcher = regex.Matcher{Poll: b.Poll, MostFrames: b.MostFrames}
	native, ok := internals.NativeOf(r.class)
	if !ok {
		return internals.Unknown("RegExp")
	}
	r.alloc = *native.Construct
	all, ok := internals.NativeOf(r.proto.GetSymbol(goja.SymMatchAll).(*goja.Object))
	if !ok {
		return internals.Unknown("matchAll")
	}
	r.originalAll = *all.Call
	*native.Call = func(c goja.FunctionCall) goja.Value { return r.create(c.Arguments, nil) }
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if newTarget == nil {
			newTarget = r.class
		}
		return r.create(args, newTarget)
	}
	b.method(r.class, "escape", 1, r.escape)
	b.method(r.proto, "exec", 1, func(c goja.FunctionCall) goja.Value {
		o, rx := r.receiver(c.This, "exec")
		return r.result(r.execute(o, rx, r.text(c.Argument(0))))
	})
	b.method(r.proto, "test", 1, r.test)
	b.method(r.proto, "toString", 0, func(c goja.FunctionCall) goja.Value {
		o := r.object(c.This, "toString")
		var s goja.StringBuilder
		s.WriteRune('/')
		s.WriteString(r.text(get(o, "source")))
		s.WriteRune('/')
		s.WriteString(r.text(get(o, "flags")))
		return s.String()
	})
	b.method(r.proto, "compile", 2, r.compile)
	r.getters()
	b.symbolMethod(r.proto, goja.SymMatch, r.match)
	b.symbolMethod(r.proto, goja.SymMatchAll, r.matchAll)
	b.symbolMethod(r.proto, goja.SymSearch, r.search)
	b.symbolMethod(r.proto, goja.SymSplit, r.split)
	b.symbolMethod(r.proto, goja.SymReplace, r.replace)
	internals.Guard(r.proto, "flags", "dotAll", "hasIndices", "unicodeSets", "constructor")
	r.installText()
	return nil
}

// object returns the receiver of a method, or throws a TypeError if that is not an object.
func (r *regExps) object(this goja.Value, name string) *goja.Object {
	o, ok := this.(*goja.Object)
	if !ok {
		r.typeError("RegExp.prototype.%s: this is not an object", name)
	}
	return o
}

// receiver returns the receiver of a method, or throws a TypeError if that is not a regular expression.
func (r *regExps) receiver(this goja.Value, name string) (*goja.Object, internals.RegExp) {
	rx, ok := internals.RegExpOf(this)
	if !ok {
		r.typeError("RegExp.prototype.%s: this is not a regular expression", name)
	}
	return this.(*goja.Object), rx
}

func (r *regExps) getters() {
	for _, g := range [...]struct {
		name string
		flag func(*regex.Flags) bool
	}{
		{"hasIndices", func(f *regex.Flags) bool { return f.Indices }},
		{"global", func(f *regex.Flags) bool { return f.Global }},
		{"ignoreCase", func(f *regex.Flags) bool { return f.IgnoreCase }},
		{"multiline", func(f *regex.Flags) bool { return f.Multiline }},
		{"dotAll", func(f *regex.Flags) bool { return f.DotAll }},
		{"unicode", func(f *regex.Flags) bool { return f.Unicode }},
		{"unicodeSets", func(f *regex.Flags) bool { return f.Sets }},
		{"sticky", func(f *regex.Flags) bool { return f.Sticky }},
	} {
		r.getter(r.proto, g.name, func(c goja.FunctionCall) goja.Value {
			rx, ok := internals.RegExpOf(c.This)
			if ok {
				return r.vm.ToValue(g.flag(&r.compiled(rx).flags))
			}
			if c.This != r.proto {
				r.typeError("RegExp.prototype.%s: this is not a regular expression", g.name)
			}
			return goja.Undefined()
		})
	}
	r.getter(r.proto, "source", func(c goja.FunctionCall) goja.Value {
		rx, ok := internals.RegExpOf(c.This)
		if ok {
			return escapeSource(r.compiled(rx).source)
		}
		if c.This != r.proto {
			r.typeError("RegExp.prototype.source: this is not a regular expression")
		}
		return r.vm.ToValue("(?:)")
	})
	r.getter(r.proto, "flags", func(c goja.FunctionCall) goja.Value {
		o := r.object(c.This, "flags")
		if rx, ok := internals.RegExpOf(o); ok && rx.IsPlain(o, r.proto) {
			return r.vm.ToValue(r.compiled(rx).text)
		}
		flags := ""
		for _, f := range []struct{ name, letter string }{
			{"hasIndices", "d"}, {"global", "g"}, {"ignoreCase", "i"}, {"multiline", "m"}, {"dotAll", "s"}, {"unicode", "u"}, {"unicodeSets", "v"}, {"sticky", "y"},
		} {
			if get(o, f.name).ToBoolean() {
				flags += f.letter
			}
		}
		return r.vm.ToValue(flags)
	})
}

// escapeSource returns a pattern as a literal has it between its slashes. It escapes line ends, and slashes outside of classes. An
// empty pattern becomes (?:).
func escapeSource(s goja.String) goja.String {
	n := s.Length()
	var b goja.StringBuilder
	done, class := 0, false
	for i := 0; i < n; i++ {
		c := s.CharAt(i)
		with := ""
		switch {
		case c == '\\' && i+1 < n && !isLineEnd(s.CharAt(i+1)):
			i++
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			with = `\/`
		case c == '\n':
			with = `\n`
		case c == '\r':
			with = `\r`
		case c == 0x2028:
			with = `\u2028`
		case c == 0x2029:
			with = `\u2029`
		}
		if with == "" {
			continue
		}
		end := i
		if end > done && s.CharAt(end-1) == '\\' && with != `\/` { // an escaped end of a line needs no second backslash
			end--
		}
		b.WriteSubstring(s, done, end)
		for _, c := range with {
			b.WriteRune(c)
		}
		done = i + 1
	}
	switch {
	case n == 0:
		for _, c := range "(?:)" {
			b.WriteRune(c)
		}
		return b.String()
	case done == 0:
		return s
	}
	b.WriteSubstring(s, done, n)
	return b.String()
}

func isLineEnd(c uint16) bool { return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 }

// compiled returns the compiled pattern of a regular expression. At the first use of a literal's object it compiles the pattern, unless
// r.literals has it, and stores it in the object.
func (r *regExps) compiled(rx internals.RegExp) *compiled {
	first, second := rx.Matcher()
	if first != nil && (*regexp.Regexp)(first).String() == compiledMark { // the matcher is the first field of a compiled
		return (*compiled)(first)
	}
	c := r.literals[first]
	if c == nil {
		source, flags := rx.Source(), rx.Flags()
		if pattern, f, ok := regex.FromLiteral(source.String()); ok {
			source, flags = r.text(r.vm.ToValue(pattern)), f
		}
		c = r.compileText(source, flags)
		if len(r.literals) >= mostLiterals {
			clear(r.literals)
		}
		if second == nil { // the interpreter copies the other matcher with each object
			r.literals[first] = c
		}
	}
	rx.SetMatcher(&c.first)
	rx.SetSource(c.source)
	return c
}

// compileText returns the compiled pattern of a text, which may be a kept one. It throws a SyntaxError for an invalid pattern or invalid
// flags, and the error of Allocate.
func (r *regExps) compileText(source goja.String, flags string) *compiled {
	r.Allocate("RegExp", uint64(source.Length())*patternSize)
	key := ""
	ascii, units := internals.Text(source)
	if units == nil && len(ascii) < mostTextSize {
		key = flags + "/" + string(ascii)
		if c := r.texts[key]; c != nil {
			return c
		}
	}
	f, ok := regex.ParseFlags(flags)
	if !ok {
		r.fail("SyntaxError", "syntax", "Invalid flags of a regular expression: "+flags, "flags are d, g, i, m, s, u or v, and y, each once")
	}
	if units == nil {
		units = make([]uint16, len(ascii))
		for i, c := range ascii {
			units[i] = uint16(c)
		}
	}
	program, err := regex.Compile(units, f)
	if err != nil {
		r.fail("SyntaxError", "syntax", regex.Invalid(source.String(), err), "")
	}
	c := &compiled{first: *never, program: program, flags: f, text: f.String(), source: source}
	if key != "" {
		if len(r.texts) >= mostTexts {
			clear(r.texts)
		}
		r.texts[key] = c
	}
	return c
}

// isRegExp implements IsRegExp.
func isRegExp(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	if m := o.GetSymbol(goja.SymMatch); !isUndefined(m) {
		return m.ToBoolean()
	}
	_, ok = internals.RegExpOf(o)
	return ok
}

// create implements the constructor; newTarget is nil for a call without new.
func (r *regExps) create(args []goja.Value, newTarget *goja.Object) *goja.Object {
	arg := func(i int) goja.Value {
		if i < len(args) {
			return args[i]
		}
		return goja.Undefined()
	}
	pattern, flags := arg(0), arg(1)
	like := isRegExp(pattern)
	if newTarget == nil {
		newTarget = r.class
		if like && isUndefined(flags) && get(pattern.(*goja.Object), "constructor") == goja.Value(r.class) {
			return pattern.(*goja.Object)
		}
	}
	if rx, ok := internals.RegExpOf(pattern); ok {
		c := r.compiled(rx)
		if isUndefined(flags) {
			o := r.alloc(nil, newTarget)
			r.adopt(o, c)
			return o
		}
		pattern = c.source
	} else if like {
		from := pattern.(*goja.Object)
		pattern = get(from, "source")
		if isUndefined(flags) {
			flags = get(from, "flags")
		}
	}
	o := r.alloc(nil, newTarget)
	r.initialize(o, pattern, flags)
	return o
}

// initialize implements RegExpInitialize, except that it does not set lastIndex.
func (r *regExps) initialize(o *goja.Object, pattern, flags goja.Value) {
	source, f := r.text(r.vm.ToValue("")), ""
	if !isUndefined(pattern) {
		source = r.text(pattern)
	}
	if !isUndefined(flags) {
		f = r.text(flags).String()
	}
	r.adopt(o, r.compileText(source, f))
}

// adopt makes an object match a compiled pattern. It throws a TypeError if the object is no regular expression.
func (r *regExps) adopt(o *goja.Object, c *compiled) {
	rx, ok := internals.RegExpOf(o)
	if !ok {
		r.typeError("the constructor of a regular expression made another object")
	}
	rx.SetMatcher(&c.first)
	rx.SetSource(c.source)
}

// compile implements RegExp.prototype.compile.
func (r *regExps) compile(c goja.FunctionCall) goja.Value {
	o, _ := r.receiver(c.This, "compile")
	pattern, flags := c.Argument(0), c.Argument(1)
	if rx, ok := internals.RegExpOf(pattern); ok {
		if !isUndefined(flags) {
			r.typeError("RegExp.prototype.compile: flags cannot be given with a regular expression")
		}
		r.adopt(o, r.compiled(rx))
	} else {
		r.initialize(o, pattern, flags)
	}
	r.put(o, "lastIndex", 0)
	return o
}

// A found is a match in a text. Its registers are valid until the next match.
type found struct {
	by        *compiled
	text      goja.String
	registers []int32
}

// find returns the registers of the first match at or after a position, or with sticky at the position. It returns nil if there is
// none, and throws a RangeError if the match has too many open choices.
func (r *regExps) find(c *compiled, s goja.String, at int, sticky bool) []int32 {
	ascii, units := internals.Text(s)
	return r.findIn(c, ascii, units, at, sticky)
}

func (r *regExps) findIn(c *compiled, ascii []byte, units []uint16, at int, sticky bool) []int32 {
	var registers []int32
	var err error
	if units != nil {
		registers, err = r.matcher.MatchUnits(c.program, units, at, sticky)
	} else {
		registers, err = r.matcher.MatchBytes(c.program, ascii, at, sticky)
	}
	r.matcher.Shrink(keptFrames)
	if err != nil {
		r.fail("RangeError", "out-of-resources", err.Error(), "write it with fewer repetitions inside of repetitions, or match shorter texts")
	}
	return registers
}

// execute implements RegExpBuiltinExec. It returns nil if nothing matches.
func (r *regExps) execute(o *goja.Object, rx internals.RegExp, s goja.String) *found {
	at := toLength(get(o, "lastIndex"))
	c := r.compiled(rx)
	keeps := c.flags.Global || c.flags.Sticky
	if !keeps {
		at = 0
	}
	var registers []int32
	if at <= s.Length() {
		registers = r.find(c, s, at, c.flags.Sticky)
	}
	if registers == nil {
		if keeps {
			r.put(o, "lastIndex", 0)
		}
		return nil
	}
	if keeps {
		r.put(o, "lastIndex", int(registers[1]))
	}
	return &found{c, s, registers}
}

// group returns the text of a group, or undefined if the group took no part in the match.
func (f *found) group(i int) goja.Value { return groupOf(f.text, f.registers, i) }

func groupOf(s goja.String, registers []int32, i int) goja.Value {
	from, to := registers[2*i], registers[2*i+1]
	if from < 0 || to < 0 {
		return goja.Undefined()
	}
	return s.Substring(int(from), int(to))
}

// result returns the array of a match, or null if f is nil.
func (r *regExps) result(f *found) goja.Value {
	if f == nil {
		return goja.Null()
	}
	values := make([]any, f.by.program.Groups())
	for i := range values {
		values[i] = f.group(i)
	}
	a := r.vm.NewArray(values...)
	define(a, "index", r.vm.ToValue(int(f.registers[0])))
	define(a, "input", f.text)
	define(a, "groups", r.groups(f.by, f.registers, f.group))
	if f.by.flags.Indices {
		span := func(i int) goja.Value {
			from, to := f.registers[2*i], f.registers[2*i+1]
			if from < 0 || to < 0 {
				return goja.Undefined()
			}
			return r.vm.NewArray(int(from), int(to))
		}
		for i := range values {
			values[i] = span(i)
		}
		indices := r.vm.NewArray(values...)
		define(indices, "groups", r.groups(f.by, f.registers, func(i int) goja.Value { return indices.Get(itoa(i)) }))
		define(a, "indices", indices)
	}
	return a
}

// groups returns the object of named groups, or undefined if the pattern has none. value(i) is the property's value for group i.
func (r *regExps) groups(c *compiled, registers []int32, value func(int) goja.Value) goja.Value {
	names := c.program.Names()
	if names == nil {
		return goja.Undefined()
	}
	o := r.vm.CreateObject(nil)
	for i, name := range names {
		if name == "" {
			continue
		}
		if registers[2*i+1] < 0 && o.Get(name) != nil { // another group has the name
			continue
		}
		define(o, name, value(i))
	}
	return o
}

// executeAny implements RegExpExec; the result is an object or nil.
func (r *regExps) executeAny(o *goja.Object, s goja.String) *goja.Object {
	exec := get(o, "exec")
	rx, ok := internals.RegExpOf(o)
	if fn := callable(exec); fn != nil && !(ok && exec == goja.Value(r.exec)) {
		v := r.call(fn, o, s)
		if goja.IsNull(v) {
			return nil
		}
		result, ok := v.(*goja.Object)
		if !ok {
			r.typeError("the method exec of a regular expression returned neither an object nor null")
		}
		return result
	}
	if !ok {
		r.typeError("RegExp.prototype.exec: this is not a regular expression")
	}
	result, _ := r.result(r.execute(o, rx, s)).(*goja.Object)
	return result
}

func (r *regExps) test(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "test")
	s := r.text(c.Argument(0))
	if rx, ok := internals.RegExpOf(o); ok && get(o, "exec") == goja.Value(r.exec) {
		return r.vm.ToValue(r.execute(o, rx, s) != nil)
	}
	return r.vm.ToValue(r.executeAny(o, s) != nil)
}

// plain returns the compiled pattern of a regular expression if the script changed neither its properties nor those of its
// prototype. Otherwise it returns nil.
func (r *regExps) plain(o *goja.Object) *compiled {
	rx, ok := internals.RegExpOf(o)
	if !ok || !rx.IsPlain(o, r.proto) {
		return nil
	}
	return r.compiled(rx)
}

// advance implements AdvanceStringIndex: it returns the position after the UTF-16 unit at a position, with unicode after the
// code point.
func advance(s goja.String, at int, unicode bool) int {
	if unicode && at+1 < s.Length() && s.CharAt(at)>>10 == 0xD800>>10 && s.CharAt(at+1)>>10 == 0xDC00>>10 {
		return at + 2
	}
	return at + 1
}

// all returns the registers of all matches from the start of a text, with the flag y up to the first position without a match.
func (r *regExps) all(c *compiled, s goja.String) [][]int32 {
	var list [][]int32
	var block []int32
	ascii, units := internals.Text(s)
	for at := 0; at <= s.Length(); {
		registers := r.findIn(c, ascii, units, at, c.flags.Sticky)
		if registers == nil {
			break
		}
		if cap(block)-len(block) < len(registers) {
			block = make([]int32, 0, max(min(2*cap(block), 1<<16), 8*len(registers)))
		}
		start := len(block)
		block = append(block, registers...)
		list = append(list, block[start:len(block):len(block)])
		at = int(registers[1])
		if registers[0] == registers[1] {
			at = advance(s, at, c.flags.FullUnicode())
		}
		if len(list)&1023 == 0 {
			r.Poll()
		}
	}
	return list
}

// eachResult calls do with each result of RegExpExec until there is no match, as the methods with the flag g do.
func (r *regExps) eachResult(o *goja.Object, s goja.String, unicode bool, do func(*goja.Object)) {
	r.put(o, "lastIndex", 0)
	for {
		result := r.executeAny(o, s)
		if result == nil {
			return
		}
		do(result)
		if r.text(get(result, "0")).Length() == 0 {
			r.put(o, "lastIndex", advance(s, toLength(get(o, "lastIndex")), unicode))
		}
		r.Poll()
	}
}

func (r *regExps) match(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "[Symbol.match]")
	s := r.text(c.Argument(0))
	if p := r.plain(o); p != nil && p.flags.Global {
		r.put(o, "lastIndex", 0)
		list := r.all(p, s)
		if len(list) == 0 {
			return goja.Null()
		}
		values := make([]any, len(list))
		for i, registers := range list {
			values[i] = groupOf(s, registers, 0)
		}
		return r.vm.NewArray(values...)
	}
	flags := r.text(get(o, "flags")).String()
	if !strings.Contains(flags, "g") {
		if result := r.executeAny(o, s); result != nil {
			return result
		}
		return goja.Null()
	}
	var values []any
	r.eachResult(o, s, strings.ContainsAny(flags, "uv"), func(result *goja.Object) { values = append(values, r.text(get(result, "0"))) })
	if values == nil {
		return goja.Null()
	}
	return r.vm.NewArray(values...)
}

func (r *regExps) search(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "[Symbol.search]")
	s := r.text(c.Argument(0))
	before := get(o, "lastIndex")
	if zero := r.vm.ToValue(0); !before.SameAs(zero) {
		r.put(o, "lastIndex", zero)
	}
	result := r.executeAny(o, s)
	if !get(o, "lastIndex").SameAs(before) {
		r.put(o, "lastIndex", before)
	}
	if result == nil {
		return r.vm.ToValue(-1)
	}
	return get(result, "index")
}

func (r *regExps) split(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "[Symbol.split]")
	s := r.text(c.Argument(0))
	class := r.species(o, r.class)
	if p := r.plain(o); p != nil && class == r.class {
		return r.splitPlain(p, s, splitLimit(c.Argument(1)))
	}
	flags := r.text(get(o, "flags")).String()
	unicode := strings.ContainsAny(flags, "uv")
	if !strings.Contains(flags, "y") {
		flags += "y"
	}
	splitter := r.construct(class, o, r.vm.ToValue(flags))
	limit := splitLimit(c.Argument(1))
	var values []any
	array := func() goja.Value { return r.vm.NewArray(values...) }
	if limit == 0 {
		return array()
	}
	size := s.Length()
	if size == 0 {
		if r.executeAny(splitter, s) == nil {
			values = append(values, s)
		}
		return array()
	}
	p := 0
	for q := 0; q < size; {
		r.put(splitter, "lastIndex", q)
		result := r.executeAny(splitter, s)
		if result == nil {
			q = advance(s, q, unicode)
			continue
		}
		e := min(toLength(get(splitter, "lastIndex")), size)
		if e == p {
			q = advance(s, q, unicode)
			continue
		}
		if values = append(values, s.Substring(p, q)); uint32(len(values)) == limit {
			return array()
		}
		p = e
		for i := 1; i < toLength(get(result, "length")); i++ {
			if values = append(values, get(result, itoa(i))); uint32(len(values)) == limit {
				return array()
			}
		}
		q = p
		r.Poll()
	}
	values = append(values, s.Substring(p, size))
	return array()
}

func splitLimit(v goja.Value) uint32 {
	if isUndefined(v) {
		return 1<<32 - 1
	}
	return toUint32(v)
}

// splitPlain implements split for a regular expression that [regExps.plain] accepts, whose steps a script cannot observe.
func (r *regExps) splitPlain(p *compiled, s goja.String, limit uint32) goja.Value {
	var values []any
	array := func() goja.Value { return r.vm.NewArray(values...) }
	if limit == 0 {
		return array()
	}
	ascii, units := internals.Text(s)
	size := s.Length()
	if size == 0 {
		if r.findIn(p, ascii, units, 0, true) == nil {
			values = append(values, s)
		}
		return array()
	}
	from := 0
	for at := 0; at < size; {
		registers := r.findIn(p, ascii, units, at, false)
		if registers == nil || int(registers[0]) >= size {
			break
		}
		start, end := int(registers[0]), int(registers[1])
		if end == from {
			at = advance(s, max(start, at), p.flags.FullUnicode())
			continue
		}
		if values = append(values, s.Substring(from, start)); uint32(len(values)) == limit {
			return array()
		}
		for i := 1; i < p.program.Groups(); i++ {
			if values = append(values, groupOf(s, registers, i)); uint32(len(values)) == limit {
				return array()
			}
		}
		from, at = end, end
		if len(values)&1023 == 0 {
			r.Poll()
		}
	}
	values = append(values, s.Substring(from, size))
	return array()
}

// matchAll implements RegExp.prototype[Symbol.matchAll].
func (r *regExps) matchAll(c goja.FunctionCall) goja.Value {
	o := r.object(c.This, "[Symbol.matchAll]")
	s := r.text(c.Argument(0))
	class := r.species(o, r.class)
	flags := r.text(get(o, "flags"))
	matcher := r.construct(class, o, flags)
	r.put(matcher, "lastIndex", toLength(get(o, "lastIndex")))
	return r.iterator(matcher, s, strings.Contains(flags.String(), "g"), strings.ContainsAny(flags.String(), "uv"))
}

func (r *regExps) escape(c goja.FunctionCall) goja.Value {
	s, ok := c.Argument(0).(goja.String)
	if !ok {
		r.typeError("RegExp.escape: the argument is not a string")
	}
	var b goja.StringBuilder
	write := func(text string) {
		for _, c := range text {
			b.WriteRune(c)
		}
	}
	const hex = "0123456789abcdef"
	for i := 0; i < s.Length(); i++ {
		c := s.CharAt(i)
		next := i+1 < s.Length() && s.CharAt(i+1)>>10 == 0xDC00>>10
		switch {
		case i == 0 && (isDigit(c) || isLetter(c)):
			write(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		case c < 128 && strings.ContainsRune(`^$\.*+?()[]{}|/`, rune(c)):
			write(`\` + string(rune(c)))
		case c >= '\t' && c <= '\r':
			write(`\` + string("tnvfr"[c-'\t']))
		case c < 128 && strings.ContainsRune(",-=<>#&!%:;@~'`\" ", rune(c)) || c == 0xA0:
			write(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		case c>>10 == 0xD800>>10 && next:
			b.WriteSubstring(s, i, i+2)
			i++
		case c>>11 == 0xD800>>11 || isLineEnd(c) || isSpace(c):
			write(`\u` + string(hex[c>>12]) + string(hex[c>>8&15]) + string(hex[c>>4&15]) + string(hex[c&15]))
		default:
			b.WriteSubstring(s, i, i+1)
		}
	}
	return b.String()
}

func isDigit(c uint16) bool  { return '0' <= c && c <= '9' }
func isLetter(c uint16) bool { return 'a' <= c|32 && c|32 <= 'z' }
func isSpace(c uint16) bool {
	return c == 0x1680 || 0x2000 <= c && c <= 0x200A || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF
}
