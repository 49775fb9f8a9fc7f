// Package esm holds the ES modules of one engine: it loads, links and evaluates them as ECMA-262 defines. Imports run before
// their importers, in source order, and each module runs once. A module with top-level await delays only its importers.
//
// # Design
//
// A [Graph] needs errors, promises, files and limits of the engine around it, which implements [Host]. The fields of a traversal
// have the names of ECMA-262.
package esm

import (
	"io/fs"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/source"
)

// A Host is the engine around the modules. Its methods are called on the loop's goroutine.
type Host interface {
	Errors
	Values
	Files
	Builtins
}

// Errors converts errors between Go and the script.
type Errors interface {
	Throw(err error)                                      // does not return
	ErrorValue(err error) *goja.Object                    // the object that Throw throws
	Rejection(err error) goja.Value                       // the reason with which err rejects a promise
	Diagnose(err error) *diag.Diagnostic                  // the error with its position in the script
	Place(d *diag.Diagnostic, p diag.Position, width int) // sets the position and the excerpt
	Cut(err error) bool                                   // whether a limit, a context or an exit ended the call
}

// Values creates and converts values of the script.
type Values interface {
	Resolved(v goja.Value) goja.Value // a fulfilled promise
	When(promise goja.Value, fulfilled, rejected func(goja.Value) error)
	// Promising returns a function of the script that rejects its promise with the error of fn.
	Promising(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object
	// Lazy defines a property that is computed at the first read.
	Lazy(o *goja.Object, name string, value func() (goja.Value, error)) error
	Text(v goja.Value) (goja.Value, error) // converts v to a string, which may run code of the script
	TypedArray(class string, memory []byte) (*goja.Object, error)
	ParseJSON(name string, data []byte) (goja.Value, error)

	Hide(v any) goja.Value         // an object that scripts see as empty
	Reveal(v goja.Value) any       // what Hide hid, or nil
	Attach(o *goja.Object, v any)  // hides v on o
	Attached(o *goja.Object) any   // what Attach hid on o, or nil
	Implementations() []goja.Value // the parameters from power to eval of package source
	Lowered() goja.Value           // the functions that lowered code calls
	Step(goja.FunctionCall) goja.Value
}

// Files reads and compiles the texts of modules.
type Files interface {
	ReadPath(name string) (string, error) // the absolute path, or the error of the policy
	Stat(path string) (fs.FileInfo, error)
	ReadModule(name, path string) ([]byte, error)
	ReadError(op, name, path string, err error) error // describes a failed read
	// Compile compiles a text unless the running call ends first. isCall tells whether the text was passed to a call.
	Compile(name, text string, isCall bool, o source.Options) (*source.Unit, error)
}

// Builtins are the modules that are no files.
type Builtins interface {
	// Source reports whether a module has the name, and returns its text unless the module is written in Go.
	Source(name string) (text func() string, known bool)
	Require(name string) (*goja.Object, error)
	ModuleNames() []string // sorted
	UnknownModule(name string) error
	Elsewhere(exports *goja.Object, name string) string // the hint for an export that a builtin lacks, or ""
}

// A Graph holds the modules of an engine. It must only be used on the loop's goroutine.
type Graph struct {
	Mark *goja.Symbol // on functions: the site of their creation

	vm    *goja.Runtime
	loop  *loop.Loop
	host  Host
	cache *Cache

	run func(name, text string) (goja.Value, error)

	dir        string // of prompt lines
	countLoops bool

	// functions of the interpreter as they were before any script ran
	next, throw       goja.Callable // methods of generators
	call              goja.Callable // calls its argument from script code
	drive             goja.Callable // the function of driver; nil before the first await
	bind              goja.Callable // Function.prototype.bind
	preventExtensions goja.Callable

	files      map[string]*Module
	imported   map[string]*Module // for each name, the prompt line that imported it last
	namespaces bool               // the functions of Object and Reflect show namespaces
	unset      *goja.Symbol       // placeholder for an uninitialized import
	turns      int                // counter of asynchronous modules; see ordering.asyncOrder
}

// Options configure a graph.
type Options struct {
	Cache      *Cache                                      // nil: each engine reads files itself
	Dir        string                                      // base of imports at the prompt
	CountLoops bool                                        // code calls Step in each iteration of a loop
	Call       goja.Callable                               // calls its argument from script code
	Run        func(name, text string) (goja.Value, error) // runs a constant text
	Generators *goja.Object                                // the prototype of generators
}

// New returns a graph without modules. No script must have run before.
func New(vm *goja.Runtime, loop *loop.Loop, host Host, o Options) *Graph {
	method := func(on goja.Value, name string) goja.Callable {
		f, _ := goja.AssertFunction(on.(*goja.Object).Get(name))
		return f
	}
	return &Graph{
		Mark: goja.NewSymbol("orepl.mark"), vm: vm, loop: loop, host: host, cache: o.Cache, dir: o.Dir, countLoops: o.CountLoops,
		next: method(o.Generators, "next"), throw: method(o.Generators, "throw"), call: o.Call, run: o.Run,
		bind: method(vm.Get("Function").(*goja.Object).Get("prototype"), "bind"), preventExtensions: method(vm.Get("Object"), "preventExtensions"),
		files: map[string]*Module{}, imported: map[string]*Module{}, unset: goja.NewSymbol("orepl.unset"),
	}
}

// Options returns the options for compiling a file.
func (g *Graph) Options(name string) source.Options {
	return source.Options{TypeScript: isTypeScript(name), CountLoops: g.countLoops}
}
