package lang

import (
	"fmt"
	"strings"
	"testing"
)

// TestPropertyEscapesAreRefused checks that patterns with property escapes are rejected, because the interpreter reads \p{L} as
// the text p{L}.
func TestPropertyEscapesAreRefused(t *testing.T) {
	for code, refused := range map[string]bool{
		`/\p{L}/u.test('x')`:                true,
		`/[^\P{Lu}]+/gu`:                    true,
		`new RegExp('\\p{L}', 'u')`:         true,
		`RegExp('a\\P{L}', 'giu')`:          true,
		`eval("/\\p{L}/u")`:                 true,
		`/\\p{1}/u.test('\\p')`:             false,
		`/p{2}/u.test('pp')`:                false,
		`/\p{2}/.test('pp')`:                false,
		`new RegExp('\\p{2}').test('pp')`:   false,
		`new RegExp(/a/, 'u').test('a')`:    false,
		`new RegExp('\\\\p{1}', 'u').flags`: false,
	} {
		e, _ := testEngine(t, Options{})
		_, err := e.Eval(t.Context(), "p.js", code)
		if got := err != nil && strings.Contains(fmt.Sprint(err), "property escapes"); got != refused {
			t.Errorf("%s: %v", code, err)
		}
	}
}
