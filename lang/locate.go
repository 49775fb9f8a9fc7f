package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Locate returns the position of a literal in a module's export, or the zero position if the module computes the value. exports
// is the result of [Engine.RunFile]. steps holds the properties (strings) and elements (ints) to follow.
func (e *Engine) Locate(exports *goja.Object, export string, steps []any) diag.Position {
	if m, ok := e.reveal(exports, e.objects.hiddenSymbol).(*module); ok && m.unit != nil {
		return m.unit.Locate(export, steps)
	}
	return diag.Position{}
}
