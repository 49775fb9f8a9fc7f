package lang

import (
	"context"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
)

// A matchBound interrupts matches of regular expressions when the call's time is over. The interpreter delegates patterns
// without a linear-time match to the backtracking library regexp2. Each builtin call sets that library's timeout to the
// remaining time of the call.
type matchBound struct {
	engine   *Engine
	programs map[pattern]*regexp2.Regexp // owned by this engine; the interpreter's programs are shared between engines
	fields   patternFields
}

// patternFields holds the fields of the interpreter's pattern type by name, and the field rx of its wrapper of regexp2.Regexp.
type patternFields map[string]reflect.StructField

// A pattern identifies a regexp2 program: its source and its options.
type pattern struct {
	text    string
	options regexp2.RegexOptions
}

// mostPatterns is the maximum size of matchBound.programs, to which scripts add entries.
const mostPatterns = 256

// patternFlags maps fields of the interpreter's pattern to options of regexp2.
var patternFlags = map[string]regexp2.RegexOptions{
	"multiline": regexp2.Multiline, "dotAll": regexp2.Singleline, "ignoreCase": regexp2.IgnoreCase, "unicode": regexp2.Unicode,
}

// boundMatches adds the time limit to every builtin that matches regular expressions.
func (e *Engine) boundMatches() error {
	fields := knownPatternFields()
	if fields == nil {
		return errNoNative("regular expressions")
	}
	m := &matchBound{engine: e, programs: map[pattern]*regexp2.Regexp{}, fields: fields}
	proto := e.vm.GlobalObject().Get("RegExp").(*goja.Object).Get("prototype").(*goja.Object)
	matchers := []goja.Value{proto.Get("exec"), proto.Get("test")}
	for _, name := range []*goja.Symbol{goja.SymMatch, goja.SymMatchAll, goja.SymSearch, goja.SymSplit, goja.SymReplace} {
		matchers = append(matchers, proto.GetSymbol(name))
	}
	for _, matcher := range matchers {
		o, _ := matcher.(*goja.Object)
		native, ok := nativeOf(o)
		if !ok || *native.call == nil {
			return errNoNative("a builtin that matches")
		}
		call := *native.call
		*native.call = func(c goja.FunctionCall) goja.Value {
			if e.limit.deadline.IsZero() {
				return call(c)
			}
			defer m.limit(c)()
			v := call(c)
			m.ended()
			return v
		}
	}
	return nil
}

// patternOf returns the interpreter's pattern of a regular expression.
func patternOf(v goja.Value) (reflect.Value, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil {
		return reflect.Value{}, false
	}
	self := reflect.ValueOf(o).Elem().FieldByIndex(selfField.Index).Elem()
	if self.Kind() != reflect.Pointer || self.Elem().Kind() != reflect.Struct || self.Elem().Type().Name() != "regexpObject" {
		return reflect.Value{}, false
	}
	at := self.Elem().FieldByName("pattern")
	if at.Kind() != reflect.Pointer || at.IsNil() {
		return reflect.Value{}, false
	}
	return at.Elem(), true
}

// knownPatternFields returns the fields, or nil if the interpreter's types have other fields.
var knownPatternFields = sync.OnceValue(func() patternFields {
	example, err := goja.New().RunString("/(?=a)/")
	if err != nil {
		return nil
	}
	at, ok := patternOf(example)
	if !ok || at.Kind() != reflect.Struct {
		return nil
	}
	fields := patternFields{}
	expected := map[string]reflect.Kind{
		"src": reflect.String, "regexpWrapper": reflect.Pointer, "regexp2Wrapper": reflect.Pointer,
		"global": reflect.Bool, "sticky": reflect.Bool, "multiline": reflect.Bool, "dotAll": reflect.Bool, "ignoreCase": reflect.Bool, "unicode": reflect.Bool,
	}
	for name, kind := range expected {
		f, ok := at.Type().FieldByName(name)
		if !ok || f.Type.Kind() != kind {
			return nil
		}
		fields[name] = f
	}
	wrapper := fields["regexp2Wrapper"].Type.Elem()
	if wrapper.Kind() != reflect.Struct {
		return nil
	}
	rx, ok := wrapper.FieldByName("rx")
	if !ok || rx.Type != reflect.TypeFor[*regexp2.Regexp]() {
		return nil
	}
	fields["rx"] = rx
	return fields
})

func (m *matchBound) field(of reflect.Value, name string) reflect.Value {
	f := of.FieldByIndex(m.fields[name].Index)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// limit sets the timeout for a call of a builtin on a regular expression, and returns a function that resets it.
func (m *matchBound) limit(c goja.FunctionCall) (restore func()) {
	nothing := func() {}
	at, ok := patternOf(c.This)
	if !ok {
		return nothing
	}
	if !m.field(at, "regexpWrapper").IsNil() && !m.mayBacktrack(at, c) {
		return nothing
	}
	rx := m.program(at)
	if rx == nil {
		return nothing
	}
	before := rx.MatchTimeout
	rx.MatchTimeout = max(time.Until(m.engine.limit.deadline), time.Millisecond)
	return func() { rx.MatchTimeout = before }
}

// mayBacktrack reports whether a linear-time pattern may use regexp2 in this call: after the start of a text, or in text that
// is not ASCII.
func (m *matchBound) mayBacktrack(at reflect.Value, c goja.FunctionCall) bool {
	if text := reflect.ValueOf(c.Argument(0)); text.Kind() != reflect.String {
		return true
	}
	if !m.field(at, "global").Bool() && !m.field(at, "sticky").Bool() {
		return false
	}
	last := c.This.(*goja.Object).Get("lastIndex")
	return last == nil || !isNumber(last) || last.ToFloat() != 0
}

// program replaces the pattern's shared regexp2 program by one that this engine owns.
func (m *matchBound) program(at reflect.Value) *regexp2.Regexp {
	key := pattern{m.field(at, "src").String(), regexp2.ECMAScript}
	for name, option := range patternFlags {
		if m.field(at, name).Bool() {
			key.options |= option
		}
	}
	rx := m.programs[key]
	if rx == nil {
		var err error
		if rx, err = regexp2.Compile(key.text, key.options); err != nil {
			return nil // the interpreter's own compilation reports the same error
		}
		if len(m.programs) >= mostPatterns {
			clear(m.programs)
		}
		m.programs[key] = rx
	}
	wrapper := m.field(at, "regexp2Wrapper")
	if wrapper.IsNil() || m.field(wrapper.Elem(), "rx").Interface().(*regexp2.Regexp) != rx {
		wrapper.Set(reflect.New(m.fields["regexp2Wrapper"].Type.Elem()))
		m.field(wrapper.Elem(), "rx").Set(reflect.ValueOf(rx))
	}
	return rx
}

// ended throws the interrupt of a call whose time is over, because a match that timed out looks like a failed match.
func (m *matchBound) ended() {
	e := m.engine
	if e.running.now == nil || time.Now().Before(e.limit.deadline) {
		return
	}
	<-e.running.now.Done() // waits until the timer has fired
	e.vm.Interrupt(context.Cause(e.running.now))
	e.letInterrupt()
}
