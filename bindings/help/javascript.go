package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/later"
)

// A builtin is a global of JavaScript.
type builtin struct {
	since string // edition of ECMAScript
	help  string
}

// builtins documents the JavaScript globals that the engine supports and the registry does not document.
var builtins = later.Value[map[string]builtin]{Make: func() map[string]builtin {
	return map[string]builtin{
		"Array":              {"1", "A list of values of any type, as in [1, 2, 3]. Typed arrays are better for the numbers of devices."},
		"ArrayBuffer":        {"2015", "Bytes in memory, which typed arrays and DataView access."},
		"BigInt":             {"2020", "Integers of any size, written 1n. Values of i64 and u64 buffers are BigInts."},
		"Boolean":            {"1", "true and false. Boolean(x) converts."},
		"DataView":           {"2015", "Reads and writes numbers of any type and byte order in an ArrayBuffer."},
		"Date":               {"1", "A point in time."},
		"Error":              {"3", "The base class of errors, with name, message, stack and cause."},
		"Function":           {"1", "The class of all functions. new Function(text) compiles a text, if the host permits it."},
		"Infinity":           {"1", "Positive infinity, which is greater than all other numbers."},
		"JSON":               {"5", "JSON.parse(text) and JSON.stringify(value, replacer?, indent?)."},
		"Map":                {"2015", "A map from keys of any type to values, in insertion order."},
		"NaN":                {"1", "Not a number, such as the result of 0 / 0. It is not equal to itself; test with Number.isNaN(x)."},
		"Number":             {"1", "Floating-point numbers of 64 bits; Number(x) converts. Constants such as Number.EPSILON are its members."},
		"Object":             {"1", "The class of all objects. Object.keys, entries and assign work on any object."},
		"Promise":            {"2015", "The future result of an asynchronous operation, for which await waits."},
		"Proxy":              {"2015", "An object whose operations call the functions of a handler."},
		"RangeError":         {"3", "The error of values out of range."},
		"ReferenceError":     {"3", "The error of undeclared names."},
		"Reflect":            {"2015", "The operations of the language on objects, as functions."},
		"RegExp":             {"3", "Regular expressions, as in /\\d+/g."},
		"Set":                {"2015", "A set of values of any type, in insertion order."},
		"String":             {"1", "Text. String(x) converts. Repeated += on a long string is slow: collect the parts in an array and join them."},
		"Symbol":             {"2015", "Unique names of properties."},
		"SyntaxError":        {"3", "The error of invalid JavaScript."},
		"TypeError":          {"3", "The error of values of a wrong type."},
		"WeakMap":            {"2015", "A Map that does not keep its keys alive."},
		"WeakSet":            {"2015", "A Set that does not keep its values alive."},
		"Int8Array":          {"2015", "A typed array of 8-bit integers, as i8 buffers have."},
		"Uint8Array":         {"2015", "A typed array of bytes, as u8 buffers have."},
		"Uint8ClampedArray":  {"2015", "A typed array of bytes that clamps stored values to 0 … 255."},
		"Int16Array":         {"2015", "A typed array of 16-bit integers, as i16 buffers have."},
		"Uint16Array":        {"2015", "A typed array of unsigned 16-bit integers, as u16 buffers have."},
		"Int32Array":         {"2015", "A typed array of 32-bit integers, as i32 buffers have."},
		"Uint32Array":        {"2015", "A typed array of unsigned 32-bit integers, as u32 buffers have."},
		"Float32Array":       {"2015", "A typed array of 32-bit floats, as f32 buffers have."},
		"Float64Array":       {"2015", "A typed array of 64-bit floats, as f64 buffers have."},
		"BigInt64Array":      {"2020", "A typed array of 64-bit integers, as i64 buffers have."},
		"BigUint64Array":     {"2020", "A typed array of unsigned 64-bit integers, as u64 buffers have."},
		"decodeURI":          {"3", "Decodes the escapes of a URI."},
		"decodeURIComponent": {"3", "Decodes the escapes of a component of a URI."},
		"encodeURI":          {"3", "Escapes a URI."},
		"encodeURIComponent": {"3", "Escapes a text as a component of a URI."},
		"eval":               {"1", "Runs a text as code, if the host permits it."},
		"globalThis":         {"2020", "The global object, whose properties are the global names."},
		"isFinite":           {"1", "Reports whether a value, converted to a number, is finite."},
		"isNaN":              {"1", "Reports whether a value, converted to a number, is NaN."},
		"parseFloat":         {"1", "Returns the number at the start of a text."},
		"parseInt":           {"1", "Returns the integer at the start of a text, in a base."},
		"undefined":          {"1", "The value of variables and properties that have not been set."},
	}
}}

// writeJavaScript documents a JavaScript global or member, such as Array or JSON.stringify. It returns false for other names.
func writeJavaScript(w io.Writer, name string) bool {
	path := strings.Split(strings.TrimSuffix(name, "()"), ".")
	b, ok := builtins.Get()[path[0]]
	if !ok {
		return false
	}
	if len(path) > 1 {
		return writeMember(w, path, b)
	}
	fmt.Fprintf(w, "%s\n  %s\n  A global of JavaScript since ECMAScript %s. Supported features of the language: docs/javascript.md.\n", name, b.help, b.since)
	writeLink(w, path[:1])
	return true
}

// writeMember documents a member of a builtin: JSON.stringify, Array.prototype.map, or Array.map for short.
func writeMember(w io.Writer, path []string, b builtin) bool {
	e, err := lang.New(lang.Options{})
	if err != nil {
		return false
	}
	defer e.Close()
	members := slices.DeleteFunc(slices.Clone(path[1:]), func(s string) bool { return s == "prototype" })
	if len(members) != 1 {
		return false
	}
	class, _ := e.VM().GlobalObject().Get(path[0]).(*goja.Object)
	for _, on := range []string{"", "prototype"} {
		o := class
		if on != "" && o != nil {
			o, _ = o.Get(on).(*goja.Object)
		}
		if o == nil || on == "" && slices.Contains(path, "prototype") || !slices.Contains(o.GetOwnPropertyNames(), members[0]) {
			continue
		}
		full := path[0] + "." + members[0]
		if on != "" {
			full = path[0] + ".prototype." + members[0]
		}
		kind := "A property"
		var v goja.Value
		if e.VM().Try(func() { v = o.Get(members[0]) }) == nil { // getters throw on prototypes
			if f, ok := v.(*goja.Object); ok && f.ClassName() == "Function" {
				kind = fmt.Sprintf("A function, of %s parameters,", f.Get("length"))
				if f.Get("length").ToInteger() == 1 {
					kind = "A function, of one parameter,"
				}
			}
		}
		fmt.Fprintf(w, "%s\n  %s of JavaScript's %s.\n  %s: %s\n", full, kind, path[0], path[0], b.help)
		writeLink(w, []string{path[0], members[0]})
		return true
	}
	return false
}

func writeLink(w io.Writer, path []string) {
	fmt.Fprintf(w, "  https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/%s\n", strings.Join(path, "/"))
}

// IsJavaScript reports whether a path starts with a JavaScript global that no module overrides.
func IsJavaScript(r *bindings.Registry, path string) bool {
	first, _, _ := strings.Cut(strings.TrimSuffix(path, "()"), ".")
	_, ok := builtins.Get()[first]
	_, _, known := r.Global(first, true)
	return ok && !known
}

// builtinOf returns the path of a built-in JavaScript value, or "". It must run on the engine's goroutine.
func builtinOf(e *lang.Engine, v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	global := e.VM().GlobalObject()
	path := ""
	_ = e.VM().Try(func() {
		for _, name := range append([]string{"Math"}, sortedBuiltins()...) {
			class, ok := global.Get(name).(*goja.Object)
			if !ok || name == "globalThis" {
				continue
			}
			if class.SameAs(o) {
				path = name
				return
			}
			for _, on := range []*goja.Object{class, prototypeOf(class)} {
				if on == nil {
					continue
				}
				for _, member := range on.GetOwnPropertyNames() {
					_ = e.VM().Try(func() { // getters throw on prototypes
						if f, ok := on.Get(member).(*goja.Object); ok && f.SameAs(o) && member != "constructor" {
							path = name + "." + member
						}
					})
				}
			}
			if path != "" {
				return
			}
		}
	})
	return path
}

func prototypeOf(class *goja.Object) *goja.Object {
	p, _ := class.Get("prototype").(*goja.Object)
	return p
}

func sortedBuiltins() []string {
	names := make([]string, 0, len(builtins.Get()))
	for name := range builtins.Get() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
