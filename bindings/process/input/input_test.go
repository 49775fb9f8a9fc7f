package input_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/process"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// run runs a script with a standard input and returns what it printed.
func run(ctx context.Context, t *testing.T, in io.Reader, limits lang.Limits, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	registry, err := bindings.NewRegistry(process.Module())
	if err != nil {
		t.Fatal(err)
	}
	e, err := lang.New(lang.Options{Stdin: in, Stdout: &out, Stderr: &out, Modules: registry.Engine(), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(ctx, "main.js", "const print = v => process.stdout.write(JSON.stringify(v) + '\\n')\n"+text)
	return out.String(), err
}

// small is a reader of one byte at a time.
type small struct{ io.Reader }

func (s small) Read(p []byte) (int, error) { return s.Reader.Read(p[:1]) }

func TestInput(t *testing.T) {
	for _, c := range []struct{ name, in, text, want string }{
		{"text", "a\r\nb", "print(await process.stdin.text()); print(await process.stdin.text())", `"a\r\nb" ""`},
		{"bytes", "\xff\x00", "print([...await process.stdin.bytes()])", "[255,0]"},
		{"lines", "a\r\n\n b\nc", "for await (const l of process.stdin.lines()) print(l)", `"a" "" " b" "c"`},
		{"no line", "", "for await (const l of process.stdin.lines()) print(l)", ""},
		{"the rest", "a\nb\nc\n", "for await (const l of process.stdin.lines()) { print(l); break }\nfor await (const l of process.stdin.lines()) { print(l); break }\nprint(await process.stdin.text())", `"a" "b" "c\n"`},
		{"order", "a\nb\nc", "const l = process.stdin.lines()\nprint(await Promise.all([l.next(), l.next(), process.stdin.text(), l.next()]))",
			`[{"value":"a","done":false},{"value":"b","done":false},"c",{"done":true}]`},
		{"an ended loop", "a\nb", "const l = process.stdin.lines()\nfor await (const x of l) break\nprint(await l.next())", `{"done":true}`},
		{"no UTF-8", "a\n\xff\nb", "const l = process.stdin.lines()\nfor (let i = 0; i < 3; i++) try { print((await l.next()).value) } catch (e) { print(e.message) }",
			`"a" "process.stdin.lines: the text is not UTF-8" "b"`},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.in), small{strings.NewReader(c.in)}} {
			got, err := run(t.Context(), t, in, lang.Limits{}, c.text)
			if got = strings.ReplaceAll(strings.TrimSpace(got), "\n", " "); err != nil || got != c.want {
				t.Errorf("%s: %v, %s", c.name, err, got)
			}
		}
	}
}

// TestRefused reads where nothing is passed, more than the limits allow, from a reader that fails, and from one that blocks.
func TestRefused(t *testing.T) {
	pipe, _ := io.Pipe()
	blocked := io.Reader(pipe)
	for _, c := range []struct {
		name string
		in   io.Reader
		text string
		code string // or out-of-memory, by the engine's own check
		want string
	}{
		{"no input", nil, "await process.stdin.text()", "permission-denied", "process.stdin.text: this program passes no standard input"},
		{"a large text", strings.NewReader(strings.Repeat("x", 9<<20)), "await process.stdin.text()", "io-error", "the standard input is larger than the memory limit of 8 MiB|the script used .* memory"},
		{"a long line", strings.NewReader(strings.Repeat("x", 9<<20)), "await process.stdin.lines().next()", "out-of-memory", "longer than the memory limit of 8 MiB|the script used .* memory"},
		{"a broken input", io.MultiReader(strings.NewReader("a"), failing{}), "await process.stdin.bytes()", "io-error", "the standard input cannot be read: the cable is broken"},
		{"an input that blocks", blocked, "process.stdin.text(); await process.stdin.lines().next()", "timeout", "longer than 200ms"},
	} {
		limits := lang.Limits{Memory: 8 << 20}
		if c.in == blocked {
			limits.Time = 200 * time.Millisecond
		}
		_, err := run(t.Context(), t, c.in, limits, c.text)
		if code := diag.Code(err); code != c.code && code != "out-of-memory" || !regexp.MustCompile(c.want).MatchString(diag.Text(err)) {
			t.Errorf("%s: %v (%s)", c.name, err, diag.Code(err))
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the cable is broken") }
