package orepl_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
)

// TestCodes checks that the codes are documented, and that errors have them.
func TestCodes(t *testing.T) {
	page, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []orepl.Code{
		orepl.CodeInvalidArgument, orepl.CodeNotFound, orepl.CodeUnsupported, orepl.CodePermissionDenied, orepl.CodeOutOfResources,
		orepl.CodeOutOfBounds, orepl.CodeCompileError, orepl.CodeDeviceLost, orepl.CodeTimeout, orepl.CodeCancelled, orepl.CodeClosed,
		orepl.CodeSyntax, orepl.CodeException, orepl.CodeOutOfMemory, orepl.CodeStackOverflow, orepl.CodeCrashed,
	} {
		if !strings.Contains(string(page), "\n## "+string(code)+"\n") {
			t.Errorf("docs/errors.md has no section %s", code)
		}
	}
	e, err := open(t).Engine(orepl.EngineOptions{Limits: lang.Limits{Time: time.Second, CallDepth: 100}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for text, want := range map[string]orepl.Code{
		"let let": orepl.CodeSyntax, "throw new Error('x')": orepl.CodeException, "(function f() { f() })()": orepl.CodeStackOverflow,
		"import 'fs'; import './none.js'": orepl.CodePermissionDenied, "for (;;);": orepl.CodeTimeout, "1": "",
	} {
		if _, err := e.Run(t.Context(), "m.js", text); orepl.CodeOf(err) != want {
			t.Errorf("%s: the code is %q, not %q: %v", text, orepl.CodeOf(err), want, err)
		}
	}
}
