// Package dts renders the registry of script names as TypeScript declarations and as the reference manual.
//
// # Design
//
// The order of an object's properties is recovered from two documented rules of TypeScript: intersections keep the order of
// overloads, and inference takes the last one. The run time refuses a signature in another order.
//
// Elements of u8 are any: a kernel stores booleans in bytes and computes with numbers from them, and no index signature has
// both.
//
// The file refers to parts of TypeScript's libraries, because the engine lacks some names of each edition.
package dts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings"
)

// libraries lists the TypeScript libraries of ECMAScript features beyond 2016 that the engine implements. A whole edition
// would also declare missing features, such as SharedArrayBuffer. Some features of the engine are not declared, such as WeakRef.
var libraries = []string{
	"es2017.object", "es2017.string", "es2017.typedarrays", "es2018.asyncgenerator", "es2018.asynciterable", "es2018.promise", "es2018.regexp",
	"es2019.array", "es2019.object", "es2019.string", "es2019.symbol", "es2020.bigint", "es2020.promise", "es2020.string",
	"es2020.symbol.wellknown", "es2021.promise", "es2021.string", "es2022.array", "es2022.error", "es2022.object", "es2022.string",
	"es2023.array", "es2024.collection", "es2024.object", "es2024.promise", "es2024.string", "esnext.disposable",
}

// Declarations returns the .d.ts file, with one module declaration per module, and its globals. It requires the compiler
// option "lib": ["es2016"].
func Declarations(r *bindings.Registry) string {
	w := &writer{}
	w.line("// Declarations of the modules and globals of orepl scripts; written by: orepl types")
	for _, name := range libraries {
		w.line("/// <reference lib=\"%s\" />", name)
	}
	w.line("")
	w.line("// Where a module is: its URL, its file, the folder of its file, and whether it is the one that was started.")
	w.line("interface ImportMeta { readonly url: string; readonly filename: string; readonly dirname: string; readonly main: boolean }")
	for _, m := range r.Modules() {
		if m.Within != "" {
			continue
		}
		w.line("")
		w.comment(m.Help, "")
		w.open("declare module '%s' {", m.Name)
		w.module(&m)
		for _, inner := range r.Modules() {
			if inner.Within == m.Name {
				w.within(&inner)
			}
		}
		w.close("}")
	}
	return w.String()
}

// Global returns a declaration of a global constant.
func Global(name, typ string) string { return fmt.Sprintf("declare const %s: %s\n", name, typ) }

// writer accumulates indented lines.
type writer struct {
	strings.Builder
	depth int
}

func (w *writer) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	if text != "" {
		w.WriteString(strings.Repeat("  ", w.depth) + text)
	}
	w.WriteByte('\n')
}

func (w *writer) open(format string, args ...any) { w.line(format, args...); w.depth++ }
func (w *writer) close(text string)               { w.depth--; w.line("%s", text) }

// types writes a module's own type declarations and exports them.
func (w *writer) types(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "interface ") || strings.HasPrefix(line, "type ") {
			line = "export " + line
		}
		w.line("%s", line)
	}
}

// comment writes a documentation comment.
func (w *writer) comment(help, example string) {
	safe := func(s string) string { return strings.ReplaceAll(s, "*/", "*\u200b/") }
	if example == "" {
		if help != "" {
			w.line("/** %s */", safe(help))
		}
		return
	}
	w.line("/**")
	w.line(" * %s", safe(help))
	w.line(" * @example")
	for line := range strings.Lines(safe(example)) {
		w.line(" * %s", strings.TrimRight(line, "\n"))
	}
	w.line(" */")
}

// module writes the body of a module declaration.
func (w *writer) module(m *bindings.Module) {
	w.types(m.Types)
	for i := range m.Entries() {
		w.export(m, &m.Entries()[i])
	}
	switch {
	case m.Source != nil: // a script declares its own default export, if any
	case m.Default != "":
		w.line("export { %s as default }", m.Default)
	default:
		w.line("const all: typeof import('%s')", m.Name) // an import of the module by itself is an error in TypeScript 7
		w.line("export { all as default }")
	}
	if len(m.Globals) == 0 {
		return
	}
	w.open("global {")
	for _, name := range m.Globals {
		w.line("const %s: typeof import('%s').%s", name, m.Name, name)
		if e, ok := m.Entry(name); ok && e.Kind == bindings.Class {
			w.line("type %s = import('%s').%s", name, m.Name, name)
		}
	}
	w.close("}")
}

// within writes names that scripts do not import: types of the enclosing module, and globals.
func (w *writer) within(m *bindings.Module) {
	w.types(m.Types)
	global := func(e *bindings.Entry) bool { return slices.Contains(m.Globals, e.Name) }
	for i := range m.Entries() {
		if e := &m.Entries()[i]; !global(e) {
			w.interfaceOf(e, "export ")
		}
	}
	w.open("global {")
	for i := range m.Entries() {
		e := &m.Entries()[i]
		switch {
		case !global(e):
		case e.Kind == bindings.Function:
			w.function(e, "function ")
		default:
			w.interfaceOf(e, "")
			w.line("var %s: %s", e.Name, typeOf(e)) // var, because the whole editions declare the name too
		}
	}
	w.close("}")
}

// export writes one export of a module.
func (w *writer) export(m *bindings.Module, e *bindings.Entry) {
	switch e.Kind {
	case bindings.Function:
		w.function(e, "export function ")
	case bindings.Class:
		w.class(e)
	case bindings.Object:
		typ := typeOf(e)
		if isName(typ) && len(e.Members) > 0 && !strings.Contains(m.Types, "interface "+typ+" ") {
			w.interfaceOf(e, "export ")
		}
		w.comment(e.Help, e.Example)
		w.line("export const %s", e.Signature)
	default:
		w.comment(e.Help, e.Example)
		w.line("export const %s", e.Signature)
	}
}

func (w *writer) function(e *bindings.Entry, keyword string) {
	w.comment(e.Help, e.Example)
	for line := range strings.Lines(e.Signature) {
		w.line("%s%s", keyword, strings.TrimRight(line, "\n"))
	}
}

func (w *writer) class(e *bindings.Entry) {
	w.comment(e.Help, e.Example)
	w.open("export %s {", e.Signature)
	made := false
	for i := range e.Members {
		made = made || e.Members[i].Name == "constructor"
		w.member(&e.Members[i], "")
	}
	if !made {
		w.line("private constructor()")
	}
	if list := typeParameters(e.Signature); list != nil { // TypeScript ignores unused parameters
		w.line("private readonly typeParameters: [%s]", strings.Join(list, ", "))
	}
	for i := range e.Static {
		w.member(&e.Static[i], "static ")
	}
	w.close("}")
}

// interfaceOf declares the type of an object as an interface.
func (w *writer) interfaceOf(e *bindings.Entry, modifier string) {
	w.comment(e.Help, e.Example)
	w.open("%sinterface %s {", modifier, typeOf(e))
	for i := range e.Members {
		w.member(&e.Members[i], "")
	}
	w.close("}")
}

func (w *writer) member(e *bindings.Entry, modifier string) {
	w.comment(e.Help, "")
	if e.Kind == bindings.Object && len(e.Members) > 0 {
		w.open("%sreadonly %s: {", modifier, e.Name)
		for i := range e.Members {
			w.member(&e.Members[i], "")
		}
		w.close("}")
		return
	}
	for line := range strings.Lines(e.Signature) {
		w.line("%s%s", modifier, strings.TrimRight(line, "\n"))
	}
}

// typeParameters returns the names of the type parameters in "class Buffer<T = any, R extends number = any>". It returns
// nil for classes without any.
func typeParameters(signature string) []string {
	_, inside, ok := strings.Cut(signature, "<")
	if !ok {
		return nil
	}
	var list []string
	for part := range strings.SplitSeq(inside, ",") {
		name, _, _ := strings.Cut(strings.TrimLeft(part, " "), " ")
		list = append(list, strings.TrimRight(name, ">"))
	}
	return list
}

// typeOf returns the type in "name: Type".
func typeOf(e *bindings.Entry) string {
	_, typ, _ := strings.Cut(e.Signature, ": ")
	return typ
}

func isName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " {}<>[]|()")
}
