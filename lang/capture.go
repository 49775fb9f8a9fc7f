package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/source"
)

// FunctionInfo describes a function of a script: its text, its position, and the current values of its free variables.
type FunctionInfo struct {
	Name string // the name of the function, or of the const or property that holds it; may be empty
	// Text is the function's source text. The types of TypeScript are removed from it.
	Text string
	File string // file name; empty if Known is false
	// Known reports whether the loader marked the function, which then has a position and captures. It marks no native functions,
	// functions made by eval or new Function, class members, accessors and default values, for example.
	Known  bool
	Native bool // function of the host, without source text
	Async  bool
	// Generator reports whether the function is a generator. It is false if Known is false, as is Async.
	Generator bool
	// Captures holds the free variables in order of first use. Those that the file or prompt line declares come before the others.
	Captures []Capture

	unit   *source.Unit
	start  int
	prompt map[string]promptBinding
}

// Names returns the sorted names of the top-level declarations of the function's file and of the prompt, and of the captures
// that are declared. If Known is false, it returns none. Spelling hints search the list.
func (f *FunctionInfo) Names() []string {
	var names []string
	if f.Known {
		names = f.unit.TopLevel()
	}
	for i := range f.Captures {
		if f.Captures[i].State != Undeclared {
			names = append(names, f.Captures[i].Name)
		}
	}
	names = append(names, slices.Collect(maps.Keys(f.prompt))...)
	slices.Sort(names)
	return slices.Compact(names)
}

// CaptureState is the state of a captured variable.
type CaptureState int

const (
	// Bound marks a variable that has a value.
	Bound CaptureState = iota
	// Uninitialized marks a variable whose declaration has not run yet.
	Uninitialized
	// Undeclared marks a global that does not exist, is undefined, or cannot be read.
	Undeclared
)

// Capture is a free variable of a function.
type Capture struct {
	Name  string
	State CaptureState
	Value goja.Value // read once; nil unless Bound
	// Kind is the kind of declaration; it is empty for a global that the prompt did not declare.
	Kind source.BindingKind
	// Declared is the position of the declaration; it is zero if Kind is empty.
	Declared diag.Position
	// Assigned holds the positions of the assignments, without that of the initializer. For an import they are in the exporting module.
	// For a variable of an earlier prompt line they are only those in functions. A kernel rejects a variable that has any.
	Assigned []diag.Position
	// Prompt marks a variable of the prompt, to which later lines may assign.
	Prompt bool
	// Function describes the value if it is a function, native ones included, and is nil for others. Recursive functions form
	// cycles.
	Function *FunctionInfo
}

// Position returns the source position of an offset in Text, or the zero position if Known is false.
func (f *FunctionInfo) Position(offset int) diag.Position {
	if !f.Known {
		return diag.Position{}
	}
	return f.unit.Position(f.start + offset)
}

// Source returns the text of the whole file as written, or Text if Known is false.
func (f *FunctionInfo) Source() string {
	if !f.Known {
		return f.Text
	}
	return f.unit.Original
}

// Capture returns the free variable with a name, or false if the function has none.
func (f *FunctionInfo) Capture(name string) (*Capture, bool) {
	for i := range f.Captures {
		if f.Captures[i].Name == name {
			return &f.Captures[i], true
		}
	}
	return nil, false
}

// FunctionInfo describes a function and, through its captures, every function that it references. It returns an [ArgumentError]
// if fn is not a function. It must be called on the loop's goroutine.
func (e *Engine) FunctionInfo(fn goja.Value) (*FunctionInfo, error) {
	o, ok := fn.(*goja.Object)
	if _, callable := goja.AssertFunction(fn); !ok || !callable {
		return nil, &ArgumentError{Func: "function", Name: "fn", Detail: "must be a function"}
	}
	return e.functionInfo(o, nil), nil
}

func (e *Engine) functionInfo(o *goja.Object, seen map[*goja.Object]*FunctionInfo) *FunctionInfo {
	if f := seen[o]; f != nil {
		return f
	}
	f := &FunctionInfo{}
	site, thunk := e.esm.graph.SiteOf(o)
	if site == nil {
		f.Name = e.textOf(o, "name")
		f.Text = e.inspector.FunctionText(o)
		f.Native = strings.HasSuffix(f.Text, "{ [native code] }")
		return f
	}
	f.Name, f.Text, f.File, f.Known = site.Name, site.Source(), site.Unit.Name, true
	f.Async, f.Generator = site.Async, site.Generator
	f.unit, f.start, f.prompt = site.Unit, site.Start, e.esm.promptCells
	if len(site.Free) == 0 {
		return f
	}
	if seen == nil {
		seen = map[*goja.Object]*FunctionInfo{}
	}
	seen[o] = f
	for i := range site.Free {
		f.Captures = append(f.Captures, e.capture(site, thunk, &site.Free[i], seen))
	}
	return f
}

// PromptCaptures returns the variables of the prompt with values that the function captures, directly or through functions that
// it captures. Each name occurs once.
func (f *FunctionInfo) PromptCaptures() []*Capture {
	var list []*Capture
	seen := map[*FunctionInfo]bool{}
	var visit func(f *FunctionInfo)
	visit = func(f *FunctionInfo) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		for i := range f.Captures {
			c := &f.Captures[i]
			if c.Prompt && c.State == Bound && !slices.ContainsFunc(list, func(b *Capture) bool { return b.Name == c.Name }) {
				list = append(list, c)
			}
			visit(c.Function)
		}
	}
	visit(f)
	return list
}

// PromptValue returns the current value of a variable of the prompt, or nil if the variable does not exist or is undefined. It
// must be called on the loop's goroutine.
func (e *Engine) PromptValue(name string) goja.Value { return e.global(name) }

func (e *Engine) capture(site *esm.Site, thunk goja.Callable, free *source.Free, seen map[*goja.Object]*FunctionInfo) Capture {
	c := Capture{Name: free.Name}
	unit := site.Unit
	var err error
	switch {
	case free.Local >= 0:
		c.Value, err = thunk(nil, e.vm.ToValue(free.Local))
	case free.Module >= 0:
		c.Value, err = site.Variable(e.vm.ToValue(free.Module))
	default:
		c.Value = e.global(free.Name)
		if c.Value == nil {
			c.State = Undeclared
		}
	}
	if err != nil {
		c.State, c.Value = Uninitialized, nil
	}
	if b := free.Binding; b != nil {
		c.Kind, c.Declared = b.Kind, unit.Position(b.Declared)
		c.Assigned = unit.Positions(b.Assigned)
		if b.Kind == source.KindImport {
			c.Assigned = site.Assigned(b.Name)
		}
		c.Prompt = unit.IsPrompt() && free.Local < 0
	} else if p, ok := e.esm.promptCells[free.Name]; ok && free.Local < 0 && free.Module < 0 {
		c.Kind, c.Declared, c.Assigned, c.Prompt = p.kind, p.declared, p.assigned, true
	}
	if o, ok := c.Value.(*goja.Object); ok {
		if _, callable := goja.AssertFunction(o); callable {
			c.Function = e.functionInfo(o, seen)
		}
	}
	return c
}

// global returns the value of a global variable, or nil if it does not exist, is undefined, or throws when it is read.
func (e *Engine) global(name string) goja.Value {
	v, err := e.intrinsics.get(nil, e.vm.GlobalObject(), e.vm.ToValue(name))
	if err != nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}

// A promptBinding describes a global declared at the prompt.
type promptBinding struct {
	kind     source.BindingKind
	declared diag.Position
	assigned []diag.Position // positions inside functions; an assignment at the top level of a line declares the variable again
}

// noteDeclarations records the declarations of a prompt line and initializes its new vars.
func (e *Engine) noteDeclarations(u *source.Unit) {
	for _, b := range u.Declares {
		if b.Kind == source.KindVar && e.global(b.Name) == nil {
			_ = e.vm.Set(b.Name, goja.Undefined())
		}
		e.esm.promptCells[b.Name] = promptBinding{b.Kind, u.Position(b.Declared), u.Positions(b.AssignedInFunctions())}
	}
}
