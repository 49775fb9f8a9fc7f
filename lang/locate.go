package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/source"
)

// Locate returns the position of a value in a module's text: of the initializer of an export, or of what steps lead to in it.
// Steps are properties (strings) and elements (ints). If the text lacks the value of a step, as where the module computes it,
// the result is the position of the value before. It is the zero position if the text has no initializer of the export. exports
// is the result of [Engine.RunFile].
func (e *Engine) Locate(exports *goja.Object, export string, steps []any) diag.Position {
	return e.esm.graph.Locate(exports, export, steps)
}

// LocateArgument returns the position of the value in a call's first argument to which steps lead, as in [Engine.Locate]. call is the
// position that [Engine.Caller] returned. The result is the zero position for a call that is not found, such as one of a prompt line.
func (e *Engine) LocateArgument(call diag.Position, steps ...any) diag.Position {
	text, ok := e.SourceText(call.File)
	if !ok {
		return diag.Position{}
	}
	unit, err := e.opts.Cache.Compile(call.File, text, e.esm.graph.Options(call.File))
	if err != nil { // a prompt's line
		return diag.Position{}
	}
	return unit.LocateArgument(call, steps)
}

// Destructured returns the properties without defaults that the function destructures from its first parameter, or nil if Known
// is false.
func (f *FunctionInfo) Destructured() []source.Name {
	if !f.Known {
		return nil
	}
	return f.unit.Destructured(f.start)
}
