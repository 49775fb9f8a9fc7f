package scripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
)

// mistake is an invalid kernel of the compiler's test files, with the diagnostics that its lines name.
type mistake struct {
	file    string
	line    int
	params  string // the signature's fields
	scope   []string
	text    string
	expects []expected
}

// expected is a diagnostic at a position in the kernel's text.
type expected struct {
	line, col int // the line from 1, in the kernel's text
	id        string
	pattern   string
}

// mistakes returns the kernels of lang/kernel/testdata/diag with a signature whose script parses.
func mistakes(t *testing.T) []mistake {
	t.Helper()
	files, _ := filepath.Glob("../../../lang/kernel/testdata/diag/*.js")
	if len(files) == 0 {
		t.Fatal("no test files")
	}
	var out []mistake
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for _, chunk := range strings.Split(string(data), "\n---\n") {
			if m, ok := readMistake(chunk); ok {
				m.file, m.line = filepath.Base(file), line
				out = append(out, m)
			}
			line += strings.Count(chunk, "\n") + 2
		}
	}
	return out
}

var (
	expectation = regexp.MustCompile(`\s*// ### (".*")\s*$`)
	quoted      = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	idIn        = regexp.MustCompile(`\\\[([a-z0-9-]+)\\\]`)
	colIn       = regexp.MustCompile(`^\^(\d+): `)
	bufferType  = regexp.MustCompile(`^(\w+)\[(\d)\]$`)
)

func readMistake(chunk string) (m mistake, ok bool) {
	var types []string
	var body []string
	for _, line := range strings.Split(chunk, "\n") {
		if args, found := strings.CutPrefix(line, "//# args: "); found {
			types = strings.Split(args, ", ")
			continue
		}
		if let, found := strings.CutPrefix(line, "//# let "); found {
			if strings.Contains(let, " = error") || strings.Contains(let, "u8[") || expectation.MatchString(let) {
				return m, false
			}
			m.scope = append(m.scope, "const "+let)
			continue
		}
		if strings.HasPrefix(line, "//# ") {
			return m, false // options
		}
		at := expectation.FindStringSubmatch(line)
		body = append(body, expectation.ReplaceAllString(line, ""))
		if at == nil {
			continue
		}
		for _, q := range quoted.FindAllString(at[1], -1) {
			pattern := strings.ReplaceAll(q[1:len(q)-1], `\\`, `\`)
			pattern = strings.ReplaceAll(pattern, `\"`, `"`)
			e := expected{line: len(body), pattern: pattern}
			if id := idIn.FindStringSubmatch(pattern); id != nil {
				e.id = id[1]
			}
			if col := colIn.FindStringSubmatch(pattern); col != nil {
				_, _ = fmt.Sscan(col[1], &e.col)
			}
			m.expects = append(m.expects, e)
		}
	}
	m.text = strings.TrimRight(strings.Join(body, "\n"), "\n")
	head, _, _ := strings.Cut(m.text, ")")
	_, list, found := strings.Cut(head, "(")
	names := strings.Split(list, ", ")
	if !found || len(names) != len(types)+1 || len(m.expects) == 0 {
		return m, false
	}
	for i, typ := range types {
		b := bufferType.FindStringSubmatch(typ)
		switch {
		case b != nil:
			typ = fmt.Sprintf("[%s, %s]", b[1], b[2])
		case typ == "number" || typ == "bigint" || typ == "boolean":
			return m, false
		}
		m.params += names[i+1] + ": " + typ + ", "
	}
	m.params = strings.TrimSuffix(m.params, ", ")
	return m, true
}

// way is a method of running a kernel in orepl. head returns the text before the kernel's.
type way struct {
	name string
	head func(m *mistake) string
	run  func(e *lang.Engine, text string) error
}

const record = "const Particle = struct({ x: f32, v: [f32, 3], id: u32 }, 'Particle')\n"

func ways(dir string) []way {
	ctx := context.Background()
	constants := func(m *mistake) string { return strings.Join(append(m.scope, ""), "\n") }
	file := func(name string) func(e *lang.Engine, text string) error {
		return func(e *lang.Engine, text string) error {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
			_, err := e.RunFile(ctx, path)
			return err
		}
	}
	const types = "i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, bool"
	return []way{
		{"script", func(m *mistake) string {
			return "import { kernel, struct, " + types + " } from 'offload'\n" + record + constants(m)
		}, file("mistake.js")},
		{"prompt", func(m *mistake) string { return record + constants(m) }, func(e *lang.Engine, text string) error {
			_, err := e.Eval(ctx, "mistake.js", text)
			return err
		}},
		{"TypeScript", func(m *mistake) string {
			return "import { kernel, struct, " + types + " } from 'offload'\ninterface Unused {\n  a: number\n  b: string[]\n}\n" +
				"const unused = (u: Unused): number => u.a as number\n" + record + constants(m)
		}, file("mistake.ts")},
	}
}

// TestDiagnostics checks the lines and columns of the compiler's diagnostics in scripts, at the prompt and in TypeScript
// modules. The first is the error, the others are its notes.
//
// [1.3] [2.8]
func TestDiagnostics(t *testing.T) {
	dir := t.TempDir()
	list := mistakes(t)
	for _, w := range ways(dir) {
		reached := map[string]bool{}
		kernels, refused := 0, 0
		for i := range list {
			m := &list[i]
			e, _ := newEngine(t, lang.Options{Dir: dir})
			head := w.head(m)
			first := strings.Count(head, "\n") + 1
			text := head + "kernel({" + m.params + "},\n" + m.text + ")\n"
			err := w.run(e, text)
			if err == nil {
				t.Errorf("%s, %s:%d: no error", w.name, m.file, m.line)
				continue
			}
			d := diagnosed(t, e, err)
			if !isKernelDiagnostic(d) {
				refused++ // the script does not parse
				continue
			}
			kernels++
			missing := checkMistake(&w, m, d, first)
			for _, x := range missing {
				t.Errorf("%s, %s:%d: %s is not at line %d, column %d: %v %v\n%s", w.name, m.file, m.line, x.pattern, x.line, x.col, d, d.Notes, text)
			}
			if missing == nil {
				for _, x := range m.expects {
					reached[general(x.pattern)] = true
				}
			}
		}
		t.Logf("%s: %d different diagnostics of %d kernels; %d are no JavaScript", w.name, len(reached), kernels, refused)
		if len(reached) < 80 {
			t.Errorf("%s: fewer than 80", w.name)
		}
	}
}

func isKernelDiagnostic(d *diag.Diagnostic) bool {
	var list kerneldiag.List
	return errors.As(d.Cause, &list)
}

// checkMistake returns the expected diagnostics that are missing. first is the line of "kernel(".
func checkMistake(w *way, m *mistake, d *diag.Diagnostic, first int) (missing []expected) {
	type told struct {
		line, col int
		text      string
	}
	all := []told{{d.Line, d.Column, fmt.Sprintf("%s [%s]; %s", d.Message, d.ID, d.Hint)}}
	for _, n := range d.Notes {
		all = append(all, told{n.Line, n.Column, n.Message})
	}
	var list kerneldiag.List
	if errors.As(d.Cause, &list) { // notes omit repetitions
		for _, k := range list {
			all = append(all, told{k.Position.Line, k.Position.Column, fmt.Sprintf("%s [%s]; %s", k.Message, k.ID, k.Rewrite)})
		}
	}
	for _, x := range m.expects {
		if w.name == "TypeScript" && strings.Contains(x.pattern, "tagged templates") {
			continue // lowered to calls before the kernel compiler
		}
		// TypeScript is printed anew with different spaces.
		re := regexp.MustCompile(spaceless(colIn.ReplaceAllString(strings.TrimSuffix(strings.TrimSuffix(x.pattern, "$"), "; "), "^")))
		if !slices.ContainsFunc(all, func(h told) bool {
			return h.line == first+x.line && h.col == x.col && re.MatchString(spaceless(h.text))
		}) {
			missing = append(missing, x)
		}
	}
	return missing
}

func spaceless(s string) string { return strings.ReplaceAll(s, " ", "") }

// general returns a message without names and numbers of its kernel.
func general(pattern string) string {
	s := colIn.ReplaceAllString(pattern, "")
	s = regexp.MustCompile("`[^`]*`").ReplaceAllString(s, "``")
	return regexp.MustCompile(`-?\d+`).ReplaceAllString(s, "0")
}

// TestDiagnosticsOfCommand runs some of the mistakes with the orepl command.
func TestDiagnosticsOfCommand(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "orepl")
	build := exec.Command("go", "build", "-o", bin, "github.com/orepl/orepl/cmd/orepl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	list := mistakes(t)
	tried := 0
	for i := 0; i < len(list); i += 5 {
		m := &list[i]
		w := ways(dir)[0]
		head := w.head(m)
		path := filepath.Join(dir, "mistake.js")
		if err := os.WriteFile(path, []byte(head+"kernel({"+m.params+"},\n"+m.text+")\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "run", "mistake.js")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s:%d: orepl run succeeds", m.file, m.line)
			continue
		}
		x := m.expects[0]
		for _, y := range m.expects {
			if y.line < x.line || y.line == x.line && y.col < x.col {
				x = y
			}
		}
		place := fmt.Sprintf("mistake.js:%d:%d", strings.Count(head, "\n")+1+x.line, x.col)
		if !strings.Contains(string(out), place) && !strings.Contains(string(out), "syntax") {
			t.Errorf("%s:%d: no %s in\n%s", m.file, m.line, place, out)
		}
		tried++
	}
	if tried < 4 {
		t.Errorf("only %d kernels were tried", tried)
	}
}
