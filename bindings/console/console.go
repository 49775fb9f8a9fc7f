// Package console implements the module 'console', whose export console is a global.
package console

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/later"
)

// Module returns the module 'console'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "console", Globals: []string{"console"}, Instantiate: instantiate},
		Help:    "Prints values in readable form, and measures times and counts calls by label.",
		Default: "console",
		Entries: func() []bindings.Entry {
			return []bindings.Entry{{
				Name: "console", Kind: bindings.Object, Signature: "console: Console",
				Help:    "Prints to standard output (log, info, debug, dir, table, …) and standard error (warn, error, trace, assert).",
				Example: "console.log('%d items', 3, { a: [1, 2] })", Members: members(),
			}}
		},
	}
}

const formatHelp = " If further values follow, a first text with %s, %d, %i, %f, %j, %o, %O or %c is a format for them."

func members() []bindings.Entry {
	return []bindings.Entry{
		method("log", "log(...values: unknown[]): void", "Prints values, separated by spaces, to standard output."+formatHelp),
		method("info", "info(...values: unknown[]): void", "Like log."),
		method("debug", "debug(...values: unknown[]): void", "Like log."),
		method("warn", "warn(...values: unknown[]): void", "Prints values to standard error."+formatHelp),
		method("error", "error(...values: unknown[]): void", "Prints values to standard error."+formatHelp),
		method("trace", "trace(...values: unknown[]): void", "Prints 'Trace:', the values as log does, and the call stack to standard error."),
		method("assert", "assert(condition?: unknown, ...values: unknown[]): void", "Prints 'Assertion failed' and the values to standard error, unless the condition counts as true for if. It does not throw."),
		method("dir", "dir(value: unknown, options?: { depth?: number; items?: number; colors?: boolean }): void", "Prints one value to a depth and with a maximum number of items of each object. The depth is 4 by default, and 200 at most or if it is negative. The default number of items is 100. The option colors overrides whether the output has colours."),
		method("table", "table(data: unknown, columns?: string[]): void", "Prints an array or object as a table, with a row for each element or property, at most 1000. Its columns are the properties of the rows, or those that columns lists. A row that is no object is shown in the column Values. A map, a set or a primitive value is printed as by log."),
		method("group", "group(...values: unknown[]): void", "Prints the values, if any, and indents later output of the console by two spaces until groupEnd."),
		method("groupCollapsed", "groupCollapsed(...values: unknown[]): void", "Like group."),
		method("groupEnd", "groupEnd(): void", "Ends the innermost group and its indentation. Without a group it has no effect."),
		method("time", "time(label?: string): void", "Starts a timer with a label, by default 'default'. If the label has a timer, that timer runs on, and a warning is printed."),
		method("timeLog", "timeLog(label?: string, ...values: unknown[]): void", "Prints the elapsed time of a timer, by default 'default', followed by values. An unknown label prints a warning."),
		method("timeEnd", "timeEnd(label?: string): void", "Prints the elapsed time of a timer, by default 'default', and removes it. An unknown label prints a warning."),
		method("count", "count(label?: string): void", "Prints the number of calls with this label, by default 'default', since the start or the last countReset."),
		method("countReset", "countReset(label?: string): void", "Resets the count of a label, by default 'default', to 0. An unknown label prints a warning."),
	}
}

func method(name, signature, help string) bindings.Entry {
	return bindings.Entry{Name: name, Kind: bindings.Method, Signature: signature, Help: help}
}

// console holds the state of one engine's console.
type console struct {
	*lang.Engine
	indent string
	timers map[string]time.Time
	counts map[string]int
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	c := &console{Engine: e, timers: map[string]time.Time{}, counts: map[string]int{}}
	o := bindings.NewExports(e)
	out, errOut := e.Options().Stdout, e.Options().Stderr
	for _, name := range []string{"log", "info", "debug"} {
		o.Add(name, c.printer(out))
	}
	for _, name := range []string{"warn", "error"} {
		o.Add(name, c.printer(errOut))
	}
	o.Add("trace", c.trace)
	o.Add("assert", c.assert)
	o.Add("dir", c.dir)
	o.Add("table", c.table)
	o.Add("group", c.group)
	o.Add("groupCollapsed", c.group)
	o.Add("groupEnd", c.groupEnd)
	o.Add("time", c.time)
	o.Add("timeLog", c.timeLog)
	o.Add("timeEnd", c.timeEnd)
	o.Add("count", c.count)
	o.Add("countReset", c.countReset)
	object, err := o.Done()
	if err != nil {
		return nil, err
	}
	x := bindings.NewExports(e)
	x.Set("console", object)
	x.Set("default", object)
	return x.Done()
}

func (c *console) printer(w io.Writer) lang.NativeFunc {
	return func(call goja.FunctionCall) (goja.Value, error) {
		return nil, c.print(w, c.Format(call.Arguments))
	}
}

func (c *console) print(w io.Writer, text string) error {
	if c.indent != "" {
		text = c.indent + strings.ReplaceAll(text, "\n", "\n"+c.indent)
	}
	_, err := io.WriteString(w, text+"\n")
	return err
}

func (c *console) options() inspect.Options { return inspect.Options{Colors: c.Options().Colors} }

// Format returns values as a string, formatted as by console.log.
func (c *console) Format(args []goja.Value) string {
	var b strings.Builder
	rest := args
	if len(args) > 1 {
		if f, ok := args[0].(goja.String); ok && strings.Contains(f.String(), "%") {
			used := c.expand(&b, f.String(), args[1:])
			rest = args[1+used:]
			if len(rest) > 0 {
				b.WriteByte(' ')
			}
		}
	}
	for i, v := range rest {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.Inspect(v, c.options()))
	}
	return b.String()
}

// expand writes a format string with its arguments and returns the number of arguments used.
func (c *console) expand(b *strings.Builder, format string, args []goja.Value) int {
	used := 0
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			b.WriteString(format)
			return used
		}
		b.WriteString(format[:i])
		verb := format[i+1]
		format = format[i+2:]
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		if !strings.ContainsRune("sdifjoOc", rune(verb)) || used == len(args) {
			b.WriteByte('%')
			b.WriteByte(verb)
			continue
		}
		b.WriteString(c.verb(verb, args[used]))
		used++
	}
}

func (c *console) verb(verb byte, v goja.Value) string {
	switch verb {
	case 's':
		if s, ok := v.(goja.String); ok {
			return s.String()
		}
		return c.InspectValue(v, inspect.Options{Depth: 1})
	case 'd', 'i', 'f':
		return c.number(verb, v)
	case 'j':
		s, err := c.Stringify(v)
		if err != nil {
			return "[" + err.Error() + "]"
		}
		return s.String()
	case 'c': // CSS styles have no effect on a terminal
		return ""
	}
	return c.InspectValue(v, c.options())
}

func (c *console) number(verb byte, v goja.Value) string {
	if goja.IsBigInt(v) {
		return v.String() + "n"
	}
	if _, symbol := v.(*goja.Symbol); symbol {
		return "NaN"
	}
	if _, object := v.(*goja.Object); object {
		return "NaN"
	}
	if s, ok := v.(goja.String); ok && verb != 'd' {
		m := leading.Get()[verb].FindStringSubmatch(s.String())
		if m == nil {
			return "NaN"
		}
		if v = c.VM().ToValue(m[2]); m[1] == "-" {
			v = c.VM().ToValue(-v.ToFloat())
		}
	}
	f := v.ToFloat()
	if verb == 'i' {
		f = math.Trunc(f)
	}
	if math.Signbit(f) && f == 0 {
		return "-0"
	}
	return c.VM().ToValue(f).String()
}

// leading matches the part of a text that the verbs %i and %f convert, like parseInt and parseFloat: a sign and a number.
var leading = later.Value[map[byte]*regexp.Regexp]{Make: func() map[byte]*regexp.Regexp {
	return map[byte]*regexp.Regexp{
		'i': regexp.MustCompile(`^\s*([+-]?)(0[xX][0-9a-fA-F]+|\d+)`),
		'f': regexp.MustCompile(`^\s*([+-]?)(Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)`),
	}
}}

func (c *console) trace(call goja.FunctionCall) (goja.Value, error) {
	text := "Trace: " + c.Format(call.Arguments)
	for _, f := range c.Stack() {
		text += "\n    at " + f.String()
	}
	return nil, c.print(c.Options().Stderr, text)
}

func (c *console) assert(call goja.FunctionCall) (goja.Value, error) {
	if call.Argument(0).ToBoolean() {
		return nil, nil
	}
	text := "Assertion failed"
	if len(call.Arguments) > 1 {
		text += ": " + c.Format(call.Arguments[1:])
	}
	return nil, c.print(c.Options().Stderr, text)
}

func (c *console) dir(call goja.FunctionCall) (goja.Value, error) {
	o := c.options()
	a := c.Args("console.dir", call)
	if opts := a.Object(1, "options"); opts != nil {
		if v := opts.Get("depth"); v != nil && !goja.IsUndefined(v) {
			o.Depth = depth(v)
		}
		if v := opts.Get("items"); v != nil && !goja.IsUndefined(v) {
			o.Items = int(v.ToInteger())
		}
		if v := opts.Get("colors"); v != nil && !goja.IsUndefined(v) {
			o.Colors = v.ToBoolean()
		}
	}
	if a.Err() != nil {
		return nil, a.Err()
	}
	return nil, c.print(c.Options().Stdout, c.InspectValue(call.Argument(0), o))
}

// depth parses the option depth of console.dir. Null, Infinity and negative numbers mean no limit.
func depth(v goja.Value) int {
	n := int(v.ToInteger())
	switch {
	case goja.IsNull(v) || math.IsInf(v.ToFloat(), 1) || n < 0:
		return inspect.Unlimited
	case n == 0:
		return inspect.TopOnly
	}
	return n
}

func (c *console) group(call goja.FunctionCall) (goja.Value, error) {
	var err error
	if len(call.Arguments) > 0 {
		err = c.print(c.Options().Stdout, c.Format(call.Arguments))
	}
	c.indent += "  "
	return nil, err
}

func (c *console) groupEnd(goja.FunctionCall) (goja.Value, error) {
	c.indent = strings.TrimSuffix(c.indent, "  ")
	return nil, nil
}

func label(call goja.FunctionCall) string {
	if goja.IsUndefined(call.Argument(0)) {
		return "default"
	}
	return call.Argument(0).String()
}

func (c *console) time(call goja.FunctionCall) (goja.Value, error) {
	name := label(call)
	if _, running := c.timers[name]; running {
		return nil, c.print(c.Options().Stderr, fmt.Sprintf("console.time: the clock %q runs already", name))
	}
	c.timers[name] = time.Now()
	return nil, nil
}

func (c *console) timeLog(call goja.FunctionCall) (goja.Value, error) {
	name := label(call)
	began, running := c.timers[name]
	if !running {
		return nil, c.print(c.Options().Stderr, fmt.Sprintf("console: there is no clock %q", name))
	}
	text := name + ": " + duration(time.Since(began))
	if len(call.Arguments) > 1 {
		text += " " + c.Format(call.Arguments[1:])
	}
	return nil, c.print(c.Options().Stdout, text)
}

func (c *console) timeEnd(call goja.FunctionCall) (goja.Value, error) {
	call.Arguments = call.Arguments[:min(len(call.Arguments), 1)]
	_, err := c.timeLog(call)
	delete(c.timers, label(call))
	return nil, err
}

func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 3, 64) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + " s"
	}
	return d.Round(time.Second).String()
}

func (c *console) count(call goja.FunctionCall) (goja.Value, error) {
	name := label(call)
	c.counts[name]++
	return nil, c.print(c.Options().Stdout, fmt.Sprintf("%s: %d", name, c.counts[name]))
}

func (c *console) countReset(call goja.FunctionCall) (goja.Value, error) {
	name := label(call)
	if _, ok := c.counts[name]; !ok {
		return nil, c.print(c.Options().Stderr, fmt.Sprintf("console: there is no count %q", name))
	}
	delete(c.counts, name)
	return nil, nil
}
