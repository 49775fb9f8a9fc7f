package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
)

// A builtin is a global of JavaScript.
type builtin struct {
	since string // edition of ECMAScript
	help  string
}

// builtins documents the JavaScript globals that the engine supports and the registry does not document.
var builtins = map[string]builtin{
	"Array":              {"1", "A list of values of any kind, as in [1, 2, 3]. Numbers for devices are better kept in typed arrays."},
	"ArrayBuffer":        {"2015", "Bytes in memory, which typed arrays and DataView look at."},
	"BigInt":             {"2020", "Integers of any size, written 1n. Values of i64 and u64 buffers are BigInts."},
	"Boolean":            {"1", "true and false; Boolean(x) is the truth of x."},
	"DataView":           {"2015", "Reads and writes numbers of any type and byte order in an ArrayBuffer."},
	"Date":               {"1", "A point in time."},
	"Error":              {"3", "What throw and catch pass on: name, message, stack, cause."},
	"Function":           {"1", "The class of all functions. new Function(text) compiles a text, which limits may forbid."},
	"Infinity":           {"1", "The number above all others."},
	"JSON":               {"5", "JSON.parse(text) and JSON.stringify(value, replacer?, indent?)."},
	"Map":                {"2015", "Values by keys of any kind, in the order in which they were set."},
	"NaN":                {"1", "What is no number, such as 0 / 0. It equals nothing: test with Number.isNaN(x)."},
	"Number":             {"1", "Floating-point numbers of 64 bits; Number(x) converts, Number.EPSILON and others are its constants."},
	"Object":             {"1", "Values by names. Object.keys, entries and assign work on any object."},
	"Promise":            {"2015", "A value to come, which await waits for."},
	"Proxy":              {"2015", "An object whose every use calls functions."},
	"RangeError":         {"3", "The error of values out of range."},
	"ReferenceError":     {"3", "The error of names that are not declared."},
	"Reflect":            {"2015", "What the language does with objects, as functions."},
	"RegExp":             {"3", "Regular expressions, as in /\\d+/g."},
	"Set":                {"2015", "Values of any kind, each once, in the order in which they were added."},
	"String":             {"1", "Text. String(x) converts. Many += of one long text take long: collect parts in an array and join them."},
	"Symbol":             {"2015", "Names of properties that collide with no other."},
	"SyntaxError":        {"3", "The error of texts that are no JavaScript."},
	"TypeError":          {"3", "The error of values of a wrong kind."},
	"WeakMap":            {"2015", "A Map that does not keep its keys alive."},
	"WeakSet":            {"2015", "A Set that does not keep its values alive."},
	"Int8Array":          {"2015", "A typed array of 8-bit integers, as i8 buffers have."},
	"Uint8Array":         {"2015", "A typed array of bytes, as u8 buffers have."},
	"Uint8ClampedArray":  {"2015", "A typed array of bytes that saturates what is stored."},
	"Int16Array":         {"2015", "A typed array of 16-bit integers, as i16 buffers have."},
	"Uint16Array":        {"2015", "A typed array of unsigned 16-bit integers, as u16 buffers have."},
	"Int32Array":         {"2015", "A typed array of 32-bit integers, as i32 buffers have."},
	"Uint32Array":        {"2015", "A typed array of unsigned 32-bit integers, as u32 buffers have."},
	"Float32Array":       {"2015", "A typed array of 32-bit floats, as f32 buffers have."},
	"Float64Array":       {"2015", "A typed array of 64-bit floats, as f64 buffers have."},
	"BigInt64Array":      {"2020", "A typed array of 64-bit integers, as i64 buffers have."},
	"BigUint64Array":     {"2020", "A typed array of unsigned 64-bit integers, as u64 buffers have."},
	"decodeURI":          {"3", "Turns the escapes of a URI into characters."},
	"decodeURIComponent": {"3", "Turns the escapes of a part of a URI into characters."},
	"encodeURI":          {"3", "Escapes a URI."},
	"encodeURIComponent": {"3", "Escapes a text as a part of a URI."},
	"eval":               {"1", "Runs a text, which limits may forbid."},
	"globalThis":         {"2020", "The object that holds the global names."},
	"isFinite":           {"1", "Whether a value, taken as a number, is neither NaN nor infinite."},
	"isNaN":              {"1", "Whether a value, taken as a number, is NaN."},
	"parseFloat":         {"1", "The number that a text begins with."},
	"parseInt":           {"1", "The integer that a text begins with, to a base."},
	"undefined":          {"1", "What has no value."},
}

// writeJavaScript documents a JavaScript global or member, such as Array or JSON.stringify. It returns false for other names.
func writeJavaScript(w io.Writer, name string) bool {
	path := strings.Split(strings.TrimSuffix(name, "()"), ".")
	b, ok := builtins[path[0]]
	if !ok {
		return false
	}
	if len(path) > 1 {
		return writeMember(w, path, b)
	}
	fmt.Fprintf(w, "%s\n  %s\n  A name of JavaScript, since ECMAScript %s. What scripts have of the language: docs/javascript.md.\n", name, b.help, b.since)
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
	_, ok := builtins[first]
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
	names := make([]string, 0, len(builtins))
	for name := range builtins {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
