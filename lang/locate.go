package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Locate gives the place where a value is written that a module exports: exports is what [Engine.RunFile] gave, export
// the name, and steps the properties (strings) and elements (ints) below it, as far as they are written as literals.
// It is zero if the module computes the export.
func (e *Engine) Locate(exports *goja.Object, export string, steps []any) diag.Position {
	if m, ok := e.reveal(exports, e.objects.hiddenSymbol).(*module); ok && m.unit != nil {
		return m.unit.Locate(export, steps)
	}
	return diag.Position{}
}
