// Package source compiles the text of a script or module to a program for the interpreter.
//
// The program is the text's syntax tree with three additions. They change the tree and not the text, so that positions and
// Function.prototype.toString stay exact:
//
//   - import and export statements become links between modules;
//   - top-level await becomes a yield of the module's function, a generator, or makes the function of a prompt line asynchronous;
//   - each function that may be a kernel or its helper has a mark, which references its source position and its free variables.
//
// Package ecma parses the text, and package desugar lowers syntax that the interpreter's tree lacks. esbuild takes the types off
// TypeScript; positions are then mapped back to the text as written.
//
// # Design
//
// A script is rewritten on the tree and not in its text, because kernels are compiled from the text of functions and errors
// carry columns.
//
// Declarations of the prompt are global variables, since lines may declare a name again. The engine refuses assignments to constants
// there by [Unit].Writes, as the interpreter would change them.
//
// x ** y becomes a call of a function of the engine, since the interpreter computes it by Go's math.Pow and has no hook.
//
// A module is a generator: it stops once after its functions are created. These must exist before any code of a cycle of imports runs.
package source

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/ecma"
)

// Kind is the kind of a text.
type Kind int

const (
	// Module is a file: strict, with its own scope.
	Module Kind = iota
	// Prompt is a line of a REPL: its declarations are global and may be repeated, and its result is the value of its last
	// expression.
	Prompt
	// evalText is a text for eval; see [ParseEval].
	evalText
)

// Names in programs, which scripts cannot write. All but paramFixed and defaultName are the parameters of the program's function, in
// order.
const (
	paramMark    = "%mark"         // (function, mark): function, marked; (number): the site with the number
	paramMarkAll = "%markAll"      // (object, key, mark, key, mark, …): object, with its functions marked
	paramScope   = "%scope"        // (thunk): accesses module-level bindings
	paramLink    = "%link"         // (setter): receives the values of imports
	paramExport  = "%export"       // (index, value): a new value of an export
	paramUpdate  = "%update"       // (result, index, thunk, …): result; exports the thunks' values again
	paramImport  = ecma.ImportName // implements import(…), with the property meta
	paramStep    = "%step"         // (): counts an iteration
	paramAwait   = "%await"        // (value, offset): value, awaited by the top level at an offset of the text
	paramUnset   = "%unset"        // the value of an uninitialized import
	paramEarly   = "%early"        // (index): throws for an early use of the import
	paramFixed   = "%fixed"        // a constant that stands for imports in assignments
	paramNoArgs  = "%noargs"       // (): throws for a top-level use of the name arguments
	paramPower   = "%power"        // (a, b): a ** b
	paramPowerOf = "%powerof"      // (object, key): a function of b that computes object[key] **= b
	paramShift   = "%shift"        // (a, b): a << b, in a text that uses BigInts
	paramTimes   = "%times"        // (a, b): a * b, with its size checked
	paramSpread  = "%spread"       // (value): value, checked before a spread
	paramEval    = "%eval"         // (text, context, arguments): the argument of eval instead of text; (): the object arguments for a text
	paramRuntime = desugar.Runtime

	// defaultName is the variable of an exported default expression: a reserved word, which becomes its function's name.
	defaultName = ecma.DefaultName
)

var parameters = []string{paramMark, paramMarkAll, paramScope, paramLink, paramExport, paramUpdate, paramImport, paramStep, paramAwait, paramUnset, paramEarly, paramNoArgs, paramPower, paramPowerOf, paramShift, paramTimes, paramSpread, paramEval, paramRuntime}

// Unit is a compiled text.
type Unit struct {
	Name string
	// Original is the text as written, Text the parsed text. They differ only if esbuild lowered the text.
	Original, Text string
	// Program evaluates to a function. It has the parameters of package source: mark, markAll, scope, link, export, update, import,
	// step, await, unset, early, noargs, power, powerof, shift, times, spread, eval and the functions of package desugar.
	//
	// The function of a Prompt runs the text and returns its value or a promise. The function of a Module is a generator. Its
	// first yield comes after the module's functions are created and its imports linked, before other code runs. Each further
	// yield is a top-level await; next or throw passes the result back.
	Program *goja.Program
	// Async reports whether the text has a top-level await.
	Async bool
	// Lowered reports whether the program calls functions of package desugar.
	Lowered bool
	Imports []Import
	Exports []Export
	Stars   []int // indices in Imports of the "export *" statements
	// Links are the bindings of imports, in the order of the setter's indices.
	Links []Link
	// Declares are the names that a Prompt declares as globals.
	Declares []*Binding
	// Writes are the assignments of a Prompt to globals of earlier lines, and to constants that it declares itself.
	Writes []Write
	Sites  []*Site
	// Captured are the module-level bindings that the scope thunk reads, by index.
	Captured []*Binding

	kind  Kind
	top   map[string]*Binding
	moved *offsetMap // maps offsets in Text to Original; nil if they are equal
}

// IsPrompt reports whether the text is a line of a prompt, whose top-level declarations are globals.
func (u *Unit) IsPrompt() bool { return u.kind == Prompt }

// TopLevel returns the sorted names declared at the text's top level, including imports.
func (u *Unit) TopLevel() []string { return slices.Sorted(maps.Keys(u.top)) }

// Import, ImportName and Export describe the import and export declarations of a text.
type (
	Import     = ecma.Import
	ImportName = ecma.ImportedName
	Export     = ecma.Export
)

// Write is an assignment of a prompt's line to a global, or to a constant that the line declares.
type Write struct {
	Name   string
	Offset int
	Own    bool // the line itself declares the name, as a constant
}

// Link binds a local name to an import.
type Link struct {
	Import int
	Name   string // exported name: "default", "*" for the namespace, or another name
	Local  string
	Offset int
}

// Site is a place in the source that creates functions.
type Site struct {
	Unit *Unit
	Name string // name of the function, or of the const or property that holds it; may be empty
	// Start and End are offsets of the function in Unit.Text.
	Start, End int
	Params     int // number of parameters
	Async      bool
	Generator  bool
	Free       []Free
}

// Free is a free variable of a function.
type Free struct {
	Name    string
	Binding *Binding // nil: not declared in the text, so global or an error
	// Local is its index in the function's own thunk, Module in the module's thunk; -1 if absent.
	Local, Module int
}

// Source returns the function's own text.
func (s *Site) Source() string { return s.Unit.Text[s.Start:s.End] }

// Binding returns a top-level binding of the text, or nil.
func (u *Unit) Binding(name string) *Binding { return u.top[name] }
