package lang

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// TestForgottenAwaitWarns checks that using a promise as an array causes one warning per position and leaves promises usable.
func TestForgottenAwaitWarns(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string // parts of each warning, in order
	}{
		{"element", "const a = sleep(1, [5])\nprint(a[0])", []string{"a is a promise, which has no elements", "main.js:2:8", "write: a = await sleep(1, [5])"}},
		{"length", "const a = sleep(1)\nprint(a.length)", []string{"a is a promise, which has no length", "main.js:2:9"}},
		{"loop warns once", "const a = sleep(1)\nfor (let i = 0; i < 3; i++) a[i]", []string{"main.js:2:30"}},
		{"async function", "async function f() {}\nf()[1]", []string{"f() is a promise, which has no elements", "write (await f())[1] instead"}},
		{"method", "const a = sleep(1), m = { read: () => a, at: sleep(2) }\nm.read()[0]; m.read().length", []string{"write (await m.read())[0] instead", "write (await m.read()).length instead"}},
		{"two places", "const a = sleep(1)\na[0]; a.length", []string{"main.js:2:2", "main.js:2:9"}},
		{"other members", "const a = sleep(1)\na.size; a.then(() => 1).catch(() => 2); 'x' in a; a + ''; Object.keys(a); JSON.stringify(a); a.mine = 1; print(a.mine, a)", nil},
		{"elements of its own", "const a = sleep(1)\na[0] = 5; a.length = 1; print(a[0], a.length)", nil},
		{"subclass", "class P extends Promise { get length() { return 3 } }\nprint(P.resolve(1).length, await P.resolve(2))", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var warnings bytes.Buffer
			e, _ := testEngine(t, Options{Stderr: &warnings})
			if _, err := e.Run(context.Background(), "main.js", c.script); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			text := warnings.String()
			for _, part := range c.want {
				_, rest, found := strings.Cut(text, part)
				if !found {
					t.Fatalf("no %q in\n%s", part, &warnings)
				}
				text = rest
			}
			places := map[string]bool{}
			for line := range strings.Lines(warnings.String()) {
				if strings.Contains(line, "-->") && places[line] {
					t.Errorf("two warnings of one place:\n%s", &warnings)
				}
				places[line] = true
			}
			if len(c.want) == 0 && warnings.Len() > 0 {
				t.Errorf("warned:\n%s", &warnings)
			}
		})
	}
}

// TestForgottenAwaitWarningsAreFew checks that the number of warnings is limited.
func TestForgottenAwaitWarningsAreFew(t *testing.T) {
	var warnings bytes.Buffer
	e, _ := testEngine(t, Options{Stderr: &warnings})
	if _, err := e.Run(context.Background(), "main.js", "const a = sleep(1)\n"+strings.Repeat("a[0]\n", 50)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(warnings.String(), "warning: "); n != mostWarnings {
		t.Errorf("%d warnings", n)
	}
}

// TestModulesAreStrict checks that all modules are strict, and that this is the global object at a prompt.
func TestModulesAreStrict(t *testing.T) {
	for name, script := range map[string]string{
		"plain":    `print(typeof this, (function () { return typeof this })())`,
		"captures": `let n = 1; const f = () => n; print(typeof this, (function () { return typeof this })())`,
		"imports":  `import { sleep as s } from 'host'; s(1); print(typeof this, (function () { return typeof this })())`,
		"exports":  `export function f() { return this }; export const n = 1; print(typeof this, typeof f())`,
	} {
		t.Run(name, func(t *testing.T) {
			e, out := testEngine(t, Options{})
			if _, err := e.Run(context.Background(), "main.js", script); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if out.String() != "undefined undefined\n" {
				t.Errorf("got %q", out)
			}
			_, err := e.Run(context.Background(), "second.js", script+"\nmisspelt = 1")
			if err == nil || !strings.Contains(err.Error(), "misspelt is not defined") {
				t.Errorf("an assignment to an undeclared name: %v", err)
			}
		})
	}
	e, _ := testEngine(t, Options{Prompt: true})
	v, err := e.Eval(context.Background(), "line", "this === globalThis")
	if err != nil || !v.ToBoolean() {
		t.Errorf("this at a prompt: %v, %v", v, err)
	}
}

// TestCopiesAreNoHostObjects checks that a copy of an object's properties has no hidden Go value.
func TestCopiesAreNoHostObjects(t *testing.T) {
	e, out := testEngine(t, Options{})
	err := e.Do(context.Background(), func(vm *goja.Runtime) error {
		c := NewClass(e, ClassSpec[int]{Name: "Thing"})
		return vm.Set("thing", c.New(7))
	})
	if err != nil {
		t.Fatal(err)
	}
	script := "print({ ...thing, a: 1 }, Object.assign({}, thing), Object.getOwnPropertyNames(thing).length)"
	if _, err := e.Run(context.Background(), "main.js", script); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if out.String() != "{ a: 1 } {} 0\n" {
		t.Errorf("got %q", out)
	}
}
