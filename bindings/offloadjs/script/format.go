package script

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// Bytes formats a number of bytes with a binary unit.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// briefWidth is the maximum number of characters of a value in a warning.
const briefWidth = 48

// Brief formats a value on one line, truncated to briefWidth. It runs no code of the script.
func (s *Script) Brief(v goja.Value) string {
	text := s.Engine.InspectValue(v, inspect.Options{Width: 1 << 16, Items: 8, MaxString: briefWidth, Depth: 1, Passive: true})
	text, _, more := strings.Cut(text, "\n")
	if r := []rune(text); more || len(r) > briefWidth {
		text = string(r[:min(len(r), briefWidth-1)]) + "…"
	}
	return text
}

// WithoutJSON returns the function JSON of a class whose objects JSON.stringify refuses, in place of writing {}.
func WithoutJSON[T any](class, hint string) func(T) (goja.Value, error) {
	return func(T) (goja.Value, error) {
		return nil, TypeError("a "+class+" has no JSON form").WithHint("%s", hint)
	}
}

// TypeError returns the diagnostic of an object that is used as a value of another type.
func TypeError(message string) *diag.Diagnostic {
	return &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError", Message: message}
}
