// Package source turns the text of a script or module into a program for the interpreter.
//
// The program is the text's own tree with three additions. They are made on the tree and never in the text, so that
// every position and Function.prototype.toString stay exact:
//
//   - import and export statements become links between modules;
//   - top-level await makes the module's function asynchronous;
//   - each function that may be a kernel or its helper carries a mark. The mark leads to its position in the source and
//     the values of its free variables.
//
// Syntax that the interpreter cannot parse (TypeScript, for await, async generators, using) is lowered by esbuild first;
// positions are then mapped back to the text as written.
package source

import (
	"maps"
	"slices"

	"github.com/dop251/goja"
)

// Kind is the kind of a text.
type Kind int

const (
	// Module is a file: strict, with its own scope.
	Module Kind = iota
	// Prompt is a line of a REPL: its declarations are global and may be repeated, and its last expression is its value.
	Prompt
)

// Parameters of a program's function, in order. No script can write such names.
const (
	paramMark    = "%mark"    // (function, mark): function, marked; (number): the site with the number
	paramMarkAll = "%markAll" // (object, key, mark, key, mark, …): object, its functions marked
	paramScope   = "%scope"   // (thunk): accesses module-level bindings
	paramLink    = "%link"    // (setter): receives the values of imports
	paramExport  = "%export"  // (index, value): a new value of an export
	paramUpdate  = "%update"  // (result, index, thunk, …): result; exports the thunks' values again
	paramImport  = "%import"  // the function behind import(…), with the property meta
	paramStep    = "%step"    // (): counts an iteration
	paramAwait   = "%await"   // (value, offset): value, which the top level awaits at an offset of the text
	paramUnset   = "%unset"   // the value of an import before its declaration has run
	paramEarly   = "%early"   // (index): throws, since the import with the index is used too early
	paramNoArgs  = "%noargs"  // (): throws, since there is no name arguments here
	paramPower   = "%power"   // (a, b): a ** b
	paramPowerOf = "%powerof" // (object, key): a function of b, which is object[key] **= b
	paramShift   = "%shift"   // (a, b): a << b, in a text that uses BigInts
	paramTimes   = "%times"   // (a, b): a * b, checked for its size
	paramSpread  = "%spread"  // (value): value, checked before it is spread
	paramEval    = "%eval"    // (text): the text that eval compiles in its place

	// defaultName is the variable of an exported default expression: a reserved word, which names its function well.
	defaultName = "default"
)

var parameters = []string{paramMark, paramMarkAll, paramScope, paramLink, paramExport, paramUpdate, paramImport, paramStep, paramAwait, paramUnset, paramEarly, paramNoArgs, paramPower, paramPowerOf, paramShift, paramTimes, paramSpread, paramEval}

// Unit is a compiled text.
type Unit struct {
	Name string
	// Original is the text as written, Text the one that was parsed: they differ only if esbuild lowered it.
	Original, Text string
	// Program evaluates to a function. Its parameters are mark, markAll, scope, link, export, update, import, step, await,
	// unset, early, noargs, power, powerof, shift, times, spread and eval.
	//
	// The function of a Prompt runs the text, and returns its value or the promise of it. The function of a Module is a
	// generator. Its first value comes when the module's functions exist, its imports are linked, and no other code of
	// it has run. Each further value is one that the top level awaits; next or throw passes the result back.
	Program *goja.Program
	// Async says that the text awaits at its top level.
	Async   bool
	Imports []Import
	Exports []Export
	Stars   []int // imports whose names are all exported again
	// Links are the bindings that imports make, in the order of the indices given to the setter.
	Links []Link
	// Declares are the names that a Prompt makes global.
	Declares []*Binding
	Sites    []*Site
	// Captured are the module-level bindings that the scope thunk reads, by index.
	Captured []*Binding

	kind  Kind
	top   map[string]*Binding
	moved *offsetMap // from Text to Original; nil if they are the same
}

// IsPrompt reports whether the text is a block of a prompt, whose top-level declarations are globals.
func (u *Unit) IsPrompt() bool { return u.kind == Prompt }

// TopLevel lists the names that the text declares outside of its functions and blocks, imports included.
func (u *Unit) TopLevel() []string { return slices.Sorted(maps.Keys(u.top)) }

// Link binds a local name to an import.
type Link struct {
	Import int
	Name   string // over there: "default", "*" for the namespace, or a name
	Local  string
	Offset int
}

// Site is a place of the source at which functions are made.
type Site struct {
	Unit *Unit
	Name string // the function's name, or of the const or property that holds it; may be empty
	// Start and End are offsets of the function in Unit.Text.
	Start, End int
	Params     int
	Async      bool
	Generator  bool
	Free       []Free
}

// Free is a free variable of a function.
type Free struct {
	Name    string
	Binding *Binding // nil: declared nowhere in the text, so it is global or an error
	// Local is its index in the function's own thunk, Module in the module's; -1 if not there.
	Local, Module int
}

// Source returns the function's own text.
func (s *Site) Source() string { return s.Unit.Text[s.Start:s.End] }

// Binding returns a binding of the text's top level, or nil.
func (u *Unit) Binding(name string) *Binding { return u.top[name] }
