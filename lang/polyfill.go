package lang

import (
	"github.com/dop251/goja"
)

// definePolyfills adds the well-known symbols that the interpreter lacks and that lowered code and classes refer to.
func (e *Engine) definePolyfills() {
	symbol := e.vm.GlobalObject().Get("Symbol").(*goja.Object)
	for _, name := range []string{"dispose", "asyncDispose", "asyncIterator"} {
		if symbol.Get(name) == nil {
			_ = symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
}
