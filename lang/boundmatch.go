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

// A matchBound ends matches of regular expressions with the call. The interpreter matches most patterns in linear time, and
// leaves the others, and some matches of all patterns, to the library regexp2, which backtracks. That library looks at a
// timeout of the pattern, which each call of a builtin here sets to the rest of the call's time.
type matchBound struct {
	engine   *Engine
	programs map[pattern]*regexp2.Regexp // own ones: those of the interpreter are shared by engines
	fields   patternFields
}

// patternFields are the fields of the interpreter's pattern by name, and rx of its wrapper of a regexp2.Regexp.
type patternFields map[string]reflect.StructField

// A pattern is the part of the interpreter's pattern that regexp2 compiles.
type pattern struct {
	text    string
	options regexp2.RegexOptions
}

// mostPatterns bounds matchBound.programs, which scripts fill.
const mostPatterns = 256

// patternFlags are the fields of the interpreter's pattern that are options of regexp2.
var patternFlags = map[string]regexp2.RegexOptions{
	"multiline": regexp2.Multiline, "dotAll": regexp2.Singleline, "ignoreCase": regexp2.IgnoreCase, "unicode": regexp2.Unicode,
}

// boundMatches puts the bound around every builtin that matches.
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

// knownPatternFields returns the fields, or nil if they are not as expected.
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

// limit sets the timeout for a call of a builtin on a regular expression, and returns the function that resets it.
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

// mayBacktrack reports whether a pattern that is matched in linear time may be left to regexp2 in a call: behind the
// beginning of a text, and in texts that are not ASCII.
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

// program makes the pattern's program for regexp2 one that belongs to this engine alone.
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
			return nil // the interpreter's own will fail in the same way
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

// ended throws the interrupt of a call whose time is over: a match that was cut short looks like none.
func (m *matchBound) ended() {
	e := m.engine
	if e.running.now == nil || time.Now().Before(e.limit.deadline) {
		return
	}
	<-e.running.now.Done() // its timer has fired
	e.vm.Interrupt(context.Cause(e.running.now))
	e.letInterrupt()
}
