// Package help implements the module 'help', whose global function help(x) prints the documentation of a name or value from the
// registry.
package help

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/spelling"
)

// Module returns the module 'help'. It calls registry lazily, so that the registry can contain the module itself.
func Module(registry func() *bindings.Registry) bindings.Module {
	return bindings.Module{
		Module: lang.Module{Name: "help", Globals: []string{"help"}, Instantiate: func(e *lang.Engine) (*goja.Object, error) {
			x := bindings.NewExports(e)
			x.Add("help", func(call goja.FunctionCall) (goja.Value, error) {
				return nil, explain(e, registry(), call.Argument(0))
			})
			return x.Done()
		}},
		Help: "Documentation of names and values.",
		Entries: func() []bindings.Entry {
			return []bindings.Entry{bindings.NewFunction("help",
				"Prints the documentation of a name such as 'fs.readText', of a module, or of a value: a function, a class or an object of a class. Without an argument it prints the list of modules. It throws not-found if there is no documentation.",
				"help('setTimeout')\nhelp(console.table)", "(what?: unknown): void")}
		},
	}
}

// explain prints the documentation of a script's value, or of the name in a string.
func explain(e *lang.Engine, r *bindings.Registry, what goja.Value) error {
	write := func(write func(io.Writer) error) error { return write(e.Options().Stdout) }
	if f, ok := e.Terminal().(Flowing); ok {
		write = f.Flow
	}
	if goja.IsUndefined(what) {
		return write(func(w io.Writer) error { WriteIndex(w, r); return nil })
	}
	path, ok := internals.Primitive(what).(string)
	if !ok {
		if path = Find(e, r, what); path == "" {
			path = builtinOf(e, what)
		}
	}
	if ok || path != "" {
		return write(func(w io.Writer) error { return Write(w, r, path) })
	}
	return diag.New("not-found", "there is no help about this value").WithHint("write help() for a list of the modules")
}

// Flowing is a writer that wraps long lines between words, such as a terminal.
type Flowing interface {
	Flow(write func(io.Writer) error) error
}

// WriteIndex writes the list of modules.
func WriteIndex(w io.Writer, r *bindings.Registry) {
	width := 0
	for _, m := range r.Modules() {
		width = max(width, len(m.Name))
	}
	for _, m := range r.Modules() {
		fmt.Fprintf(w, "%-*s  %s\n", width, m.Name, m.Help)
	}
	fmt.Fprintln(w, "\nhelp('fs') lists a module, help('fs.readText') explains a name, help(x) a value.")
}

// IsDiagnostic reports whether text is a hyphenated error code or kernel diagnostic, such as out-of-bounds. The prompt would
// otherwise parse it as a subtraction.
func IsDiagnostic(text string) bool {
	_, isCode := lookupCode(text)
	_, isKernel := kerneldiag.Lookup(kerneldiag.ID(text))
	return strings.Contains(text, "-") && (isCode || isKernel)
}

// Write writes the documentation of a name: a kernel diagnostic, a path for [bindings.Registry.Lookup], a name of JavaScript, a
// member of any object, or an error code. For any other name it writes what a search finds. It is an error if there is nothing.
func Write(w io.Writer, r *bindings.Registry, name string) error {
	if d, ok := kerneldiag.Lookup(kerneldiag.ID(name)); ok {
		writeDiagnostic(w, d)
		return nil
	}
	if f, ok := mathDocOf(name); ok {
		writeMath(w, r, name, f)
		return nil
	}
	e, m, ok := r.Lookup(name)
	if !ok && IsJavaScript(r, name) && writeJavaScript(w, name) {
		return nil
	}
	if !ok {
		switch paths := r.Paths(strings.TrimSuffix(name, "()")); len(paths) {
		case 0:
		case 1: // such as the member sort of one class, which may not be what is meant
			if e, m, ok = r.Lookup(paths[0]); ok && e != nil {
				writeEntry(w, e, m)
				fmt.Fprintln(w)
				Search(w, r, fmt.Sprintf("The documentation also has about %q", name), name)
				return nil
			}
		default:
			writePaths(w, r, name, paths)
			return nil
		}
	}
	if code, isCode := lookupCode(name); isCode && !ok {
		writeCode(w, code)
		return nil
	}
	near := ""
	if !ok {
		near = spelling.Nearest(name, append(codeNames(), r.Names()...))
	}
	switch {
	case !ok && (near == "" || !strings.ContainsAny(name, "-.")) && Search(w, r, fmt.Sprintf("there is no name %q; the documentation has", name), name):
	case !ok:
		d := diag.New("not-found", "there is no help about %q", name)
		if near != "" {
			return d.WithHint("did you mean %q?", near)
		}
		return d.WithHint("write help() for a list of the modules")
	case e == nil:
		writeModule(w, m)
	default:
		writeEntry(w, e, m)
		if of, found := strings.CutPrefix(name, "Math."); found {
			writeErrors(w, extraErrors.Get()[of])
		}
	}
	return nil
}

// codeNames returns all error codes and diagnostic IDs.
func codeNames() []string {
	var list []string
	for _, c := range codes {
		list = append(list, c.ID)
	}
	for _, d := range kerneldiag.Table() {
		list = append(list, string(d.ID))
	}
	return list
}

// writeDiagnostic writes the documentation of a kernel diagnostic.
func writeDiagnostic(w io.Writer, d kerneldiag.Entry) {
	kind := "an error"
	if d.Warning {
		kind = "a warning"
	}
	fmt.Fprintf(w, "%s, %s in kernels\n  %s\n", d.ID, kind, d.Meaning)
	if d.Example != "" {
		fmt.Fprintf(w, "\nExample:\n  %s\n", d.Example)
	}
}

// writePaths writes the paths that an ambiguous name may refer to, and recipes with the name in the heading.
func writePaths(w io.Writer, r *bindings.Registry, name string, paths []string) {
	fmt.Fprintf(w, "%s is a member of several objects:\n\n", name)
	for _, path := range paths {
		if e, _, ok := r.Lookup(path); ok && e != nil {
			fmt.Fprintf(w, "  %-24s %s\n", path, e.Summary())
		}
	}
	writeRecipes(w, name)
}

func writeModule(w io.Writer, m *bindings.Module) {
	fmt.Fprintf(w, "module '%s'\n  %s\n\n", m.Name, m.Help)
	writeList(w, "", m.Entries())
}

func writeEntry(w io.Writer, e *bindings.Entry, m *bindings.Module) {
	for line := range strings.Lines(e.Signature) {
		fmt.Fprintln(w, strings.TrimSuffix(line, "\n"))
	}
	if e.Help != "" {
		fmt.Fprintf(w, "  %s\n", e.Help)
	}
	fmt.Fprintf(w, "  From module '%s'.\n", m.Name)
	if e.Example != "" {
		fmt.Fprintln(w, "\nExample:")
		for line := range strings.Lines(e.Example) {
			fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	if len(e.Members)+len(e.Static) > 0 {
		fmt.Fprintln(w, "\nMembers:")
		writeList(w, "", e.Members)
		writeList(w, e.Name+".", e.Static)
	}
}

func writeList(w io.Writer, prefix string, list []bindings.Entry) {
	for i := range list {
		fmt.Fprintf(w, "  %-16s %s\n", prefix+list[i].Name, cmp.Or(list[i].Summary(), list[i].Signature))
	}
}

// Find returns the path of the entry that documents a value, or "". It finds exports, their members, and the class of an
// object. It must run on the engine's goroutine.
func Find(e *lang.Engine, r *bindings.Registry, v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	for _, m := range r.Modules() {
		if !m.Importable() {
			continue
		}
		exports, err := e.Require(m.Name)
		if err != nil {
			continue
		}
		if exports.SameAs(o) {
			return m.Name
		}
		if path := findIn(e, exports, o, m.Entries()); path != "" {
			return m.Name + "." + path
		}
	}
	return ""
}

// findIn searches the documented properties of an object for a value and returns its path, or "".
func findIn(e *lang.Engine, in, o *goja.Object, entries []bindings.Entry) string {
	for i := range entries {
		en := &entries[i]
		v, ok := in.Get(en.Name).(*goja.Object)
		if !ok || en.Kind == bindings.Property {
			continue
		}
		if v.SameAs(o) {
			return en.Name
		}
		path := ""
		switch en.Kind {
		case bindings.Object:
			path = findIn(e, v, o, en.Members)
		case bindings.Class:
			path = findInClass(e, v, o, en)
		}
		if path != "" {
			return strings.TrimSuffix(en.Name+"."+path, ".")
		}
	}
	return ""
}

// findInClass returns the name of o among the methods and static members of a class. It returns "." if o is an instance of
// the class, and "" if it is neither.
func findInClass(e *lang.Engine, class, o *goja.Object, en *bindings.Entry) string {
	proto, ok := class.Get("prototype").(*goja.Object)
	if !ok {
		return ""
	}
	if p := o.Prototype(); p != nil && p.SameAs(proto) {
		return "."
	}
	for i := range en.Members {
		m := &en.Members[i]
		if m.Kind != bindings.Method {
			continue
		}
		var member goja.Value
		if e.VM().Try(func() { member = proto.Get(m.Name) }) != nil {
			continue // getters throw on the prototype
		}
		if v, ok := member.(*goja.Object); ok && m.Name != "constructor" && v.SameAs(o) {
			return m.Name
		}
	}
	return findIn(e, class, o, en.Static)
}
