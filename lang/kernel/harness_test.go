package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

var update = flag.Bool("update", false, "write what the tests find into the golden files")

// A chunk is a kernel in a test file, preceded by lines that specify its compilation:
//
//	//# args: number, f32[1], Particle[1], i32     one per parameter
//	//# options: real=f64 contract=false warnings
//	//# let NAME = VALUE                           a captured variable
type chunk struct {
	line    int // line number of the kernel's first line
	text    string
	args    []Arg
	options Options
	scope   map[string]any
	lines   []string // lines of the whole chunk
	first   int      // line number of lines[0]
}

// chunks reads a test file, whose chunks are separated by lines of ---.
func chunks(t testing.TB, file string) []chunk {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []chunk
	lines := strings.Split(string(data), "\n")
	start := 0
	for i := 0; i <= len(lines); i++ {
		if i == len(lines) || lines[i] == "---" {
			if c := readChunk(t, lines[start:i], start+1); strings.TrimSpace(c.text) != "" {
				out = append(out, c)
			}
			start = i + 1
		}
	}
	return out
}

func readChunk(t testing.TB, lines []string, first int) chunk {
	t.Helper()
	c := chunk{lines: lines, first: first, scope: map[string]any{"Particle": particle}}
	for i, line := range lines {
		head, ok := strings.CutPrefix(line, "//# ")
		if !ok {
			c.line, c.text = first+i, strings.Join(lines[i:], "\n")
			return c
		}
		switch kind, rest, _ := strings.Cut(head, " "); kind {
		case "args:":
			c.args = parseArgs(t, rest)
		case "options:":
			for _, o := range strings.Fields(rest) {
				switch o {
				case "real=f64":
					c.options.Real = ir.F64
				case "contract=false":
					c.options.NoContract = true
				case "warnings":
					c.options.Warnings = true
				default:
					t.Fatalf("line %d: unknown option %s", first+i, o)
				}
			}
		case "let":
			name, value, _ := strings.Cut(strings.TrimRight(expectation.ReplaceAllString(rest, ""), " "), " = ")
			c.scope[name] = scopeValue(t, value, c.scope)
			if src, ok := c.scope[name].(*Source); ok {
				col := strings.Index(line, " = ") + len(" = ") + 1
				src.Position = func(offset int) (string, int, int) { return "test.js", first + i, col + offset }
			}
		default:
			t.Fatalf("line %d: unknown directive %s", first+i, kind)
		}
	}
	return c
}

var particle = ir.NewRecord("Particle", []ir.Field{
	{Name: "x", Elem: ir.Elem{Scalar: ir.F32}},
	{Name: "v", Elem: ir.Elem{Scalar: ir.F32}, Dims: []int{3}},
	{Name: "id", Elem: ir.Elem{Scalar: ir.U32}},
})

var bufferArg = regexp.MustCompile(`^(\w+)\[(\d)\]$`)

func parseArgs(t testing.TB, list string) []Arg {
	t.Helper()
	var args []Arg
	for _, s := range strings.Split(list, ",") {
		switch s = strings.TrimSpace(s); s {
		case "":
		case "number":
			args = append(args, Arg{Kind: Number})
		case "bigint":
			args = append(args, Arg{Kind: BigInt})
		case "boolean":
			args = append(args, Arg{Kind: Bool})
		default:
			if m := bufferArg.FindStringSubmatch(s); m != nil {
				a := Arg{Kind: Buffer, Elem: ir.Elem{Record: particle}}
				a.Rank, _ = strconv.Atoi(m[2])
				if m[1] != "Particle" {
					typ, ok := ir.ParseType(m[1])
					if !ok {
						t.Fatalf("unknown type %s", m[1])
					}
					a.Elem = ir.Elem{Scalar: typ}
				}
				args = append(args, a)
				continue
			}
			typ, ok := ir.ParseType(s)
			if !ok {
				t.Fatalf("unknown argument %s", s)
			}
			args = append(args, Arg{Kind: Scalar, Type: typ})
		}
	}
	return args
}

// testObject is a plain object of a script.
type testObject map[string]any

func (o testObject) Field(name string) (any, error) { return o[name], nil }
func (o testObject) Fields() []string               { return slices.Sorted(maps.Keys(o)) }

// scopeValue parses a value that a script could bind: a number, BigInt, bool, array, object, typed array, or function.
func scopeValue(t testing.TB, text string, scope map[string]any) any {
	t.Helper()
	text = strings.TrimSpace(text)
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return float64(n)
	}
	if n, ok := strings.CutSuffix(text, "n"); ok {
		if b, ok := new(big.Int).SetString(n, 10); ok {
			return b
		}
	}
	switch {
	case text == "true" || text == "false":
		return text == "true"
	case strings.HasPrefix(text, "error "):
		return errors.New(text[6:])
	case strings.HasPrefix(text, "["):
		list := []float64{}
		for _, s := range strings.Split(strings.Trim(text, "[]"), ",") {
			if strings.TrimSpace(s) != "" {
				list = append(list, scopeValue(t, s, scope).(float64))
			}
		}
		return list
	case strings.HasPrefix(text, "u8["):
		var data []byte
		for _, x := range scopeValue(t, text[2:], scope).([]float64) {
			data = append(data, byte(x))
		}
		return Table{Elem: ir.U8, Data: data}
	case strings.HasPrefix(text, "{"):
		o := testObject{}
		for _, s := range strings.Split(strings.Trim(text, "{}"), ",") {
			name, value, _ := strings.Cut(s, ":")
			o[strings.TrimSpace(name)] = scopeValue(t, value, scope)
		}
		return o
	}
	return &Source{Text: text, Capture: capture(scope)}
}

func capture(scope map[string]any) func(string) (any, error) {
	return func(name string) (any, error) {
		if err, ok := scope[name].(error); ok {
			return nil, err
		}
		return scope[name], nil
	}
}

func (c *chunk) compile() (*Compiled, error) {
	src := &Source{Text: c.text, Capture: capture(c.scope)}
	src.Position = func(offset int) (string, int, int) {
		before := c.text[:offset]
		at := strings.LastIndexByte(before, '\n') + 1
		return "test.js", c.line + strings.Count(before, "\n"), len([]rune(before[at:])) + 1
	}
	f, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return f.Compile(c.args, c.options)
}

// TestGolden compares the IR of testdata/ir/*.js with the .ir files in the same directory.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/ir/*.js")
	if len(files) == 0 {
		t.Fatal("no test files")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var got strings.Builder
			for i, c := range chunks(t, file) {
				out, err := c.compile()
				if err != nil {
					t.Fatalf("line %d: %v", c.line, err)
				}
				if i > 0 {
					got.WriteString("---\n")
				}
				for _, p := range out.Params {
					if p.Rank == 0 {
						fmt.Fprintf(&got, "// %s: %s\n", p.Name, p.Reason)
					}
				}
				for _, w := range out.Warnings {
					fmt.Fprintf(&got, "// warning: %v\n", w)
				}
				got.WriteString(out.Module.String())
			}
			golden := strings.TrimSuffix(file, ".js") + ".ir"
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("differs from %s (-update writes it):\n%s", golden, firstDifference(got.String(), string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
	return ""
}

var expectation = regexp.MustCompile(`// ### (".*")\s*$`)

// TestDiagnostics compares the diagnostics of testdata/diag/*.js with the expectations in their lines.
func TestDiagnostics(t *testing.T) {
	files, _ := filepath.Glob("testdata/diag/*.js")
	if len(files) == 0 {
		t.Fatal("no test files")
	}
	seen := map[diag.ID]bool{}
	for _, file := range files {
		if *update {
			rewriteExpectations(t, file)
		}
		for _, c := range chunks(t, file) {
			checkDiagnostics(t, file, &c, seen)
		}
	}
	for id := range seen {
		if _, ok := diag.Lookup(id); !ok {
			t.Errorf("the diagnostic %s is not in diag.Table()", id)
		}
	}
}

// TestTable compiles the example of every kind of diagnostic.
func TestTable(t *testing.T) {
	types := map[string]string{"x": "f32[1]", "k": "i32[1]", "u": "u32[1]", "n": "i64[1]", "b": "u8[1]", "ps": "Particle[1]", "m": "f32[2]"}
	for _, e := range diag.Table() {
		if e.Example == "" || e.ID == diag.IntegerWraps || e.ID == diag.RacyAccess { // reported by packages overflow and races
			continue
		}
		c := chunk{line: 1, text: e.Example, options: Options{Warnings: true}, scope: map[string]any{}}
		if f, err := Parse(&Source{Text: e.Example}); err == nil {
			for _, p := range f.Params() {
				c.args = append(c.args, parseArgs(t, types[p])...)
			}
		}
		found := false
		list := diagnostics(t, "diag.Table", &c)
		for _, d := range list {
			found = found || d.ID == e.ID
		}
		if !found {
			t.Errorf("%s: the example gives %v", e.ID, list)
		}
	}
}

func checkDiagnostics(t *testing.T, file string, c *chunk, seen map[diag.ID]bool) {
	t.Helper()
	want := map[int][]*regexp.Regexp{}
	for i, line := range c.lines {
		m := expectation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, q := range regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).FindAllString(m[1], -1) {
			pattern, err := strconv.Unquote(q)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, c.first+i, err)
			}
			want[c.first+i] = append(want[c.first+i], regexp.MustCompile(pattern))
		}
	}
	for _, d := range diagnostics(t, file, c) {
		seen[d.ID] = true
		text := describe(d)
		found := false
		for i, re := range want[d.Line] {
			if re.MatchString(text) {
				want[d.Line] = append(want[d.Line][:i:i], want[d.Line][i+1:]...)
				found = true
				break
			}
		}
		if !found {
			t.Errorf("%s:%d:%d: unexpected: %s", file, d.Line, d.Column, text)
		}
	}
	for line, res := range want {
		for _, re := range res {
			t.Errorf("%s:%d: no diagnostic matches %q", file, line, re)
		}
	}
}

// diagnostics compiles a chunk and returns its errors or warnings.
func diagnostics(t *testing.T, file string, c *chunk) diag.List {
	t.Helper()
	out, err := c.compile()
	if err == nil {
		return out.Warnings
	}
	var list diag.List
	if !errors.As(err, &list) {
		t.Fatalf("%s:%d: an error that is no list of diagnostics: %v", file, c.line, err)
	}
	return list
}

func describe(d *diag.Diagnostic) string {
	return fmt.Sprintf("%d: %s [%s]; %s", d.Column, d.Message, d.ID, d.Rewrite)
}

// rewriteExpectations updates a file's expectations to the reported diagnostics.
func rewriteExpectations(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(expectation.ReplaceAllString(line, ""), " ")
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks(t, file) {
		for _, d := range diagnostics(t, file, &c) {
			if !strings.Contains(lines[d.Line-1], "// ###") {
				lines[d.Line-1] += " // ###"
			}
			lines[d.Line-1] += " " + strconv.Quote("^"+regexp.QuoteMeta(describe(d))+"$")
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// memory is a buffer for the interpreter.
type memory struct {
	words []uint64 // aligned for any element
	bytes int
	dims  [3]int32
}

func newMemory(t testing.TB, data any, dims ...int) *memory {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
		t.Fatal(err)
	}
	m := &memory{words: make([]uint64, b.Len()/8+1), bytes: b.Len()}
	copy(m.data(), b.Bytes())
	if len(dims) == 0 {
		dims = []int{binary.Size(data) / elemSize(data)}
	}
	for i, d := range dims {
		m.dims[i] = int32(d)
	}
	return m
}

func elemSize(data any) int {
	switch data.(type) {
	case []float64, []int64, []uint64:
		return 8
	case []int16, []uint16:
		return 2
	case []int8, []uint8, []bool:
		return 1
	}
	return 4
}

func (m *memory) data() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.words))), m.bytes)
}

// read decodes the memory into a slice of the type of into.
func (m *memory) read(t testing.TB, into any) {
	t.Helper()
	if err := binary.Read(bytes.NewReader(m.data()), binary.LittleEndian, into); err != nil {
		t.Fatal(err)
	}
}

// launch runs a compiled kernel in the interpreter; args are *memory or numbers.
func launch(t testing.TB, c *Compiled, size [3]int, args ...any) *interp.Fault {
	t.Helper()
	p, err := interp.Compile(c.Kernel, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Size: size}
	for i, a := range args {
		switch a := a.(type) {
		case *memory:
			l.Args = append(l.Args, interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(a.words)), Bytes: a.bytes, Dims: a.dims})
		case float64:
			if err := c.Params[i].CheckNumber(a); err != nil {
				t.Fatal(err)
			}
			typ := c.Kernel.Params[i].Type
			bits := ir.FloatBits(typ, a)
			if typ == ir.Bool {
				bits = uint64(a)
			} else if typ.IsInt() {
				bits = ir.IntBits(typ, int64(a))
			}
			l.Args = append(l.Args, interp.Arg{Bits: bits})
		default:
			t.Fatalf("argument %d is a %T", i, a)
		}
	}
	if c.Kernel.ObservesGroup() {
		l.GroupSize = [3]int{min(size[0], 64), 1, 1}
	}
	groups, err := p.Prepare(l)
	if err != nil {
		t.Fatal(err)
	}
	return p.Run(p.NewWorker(), l, 0, groups)
}

// TestField compiles well-known kernels as a JavaScript programmer would write them.
func TestField(t *testing.T) {
	for _, c := range chunks(t, "testdata/field/kernels.js") {
		if _, err := c.compile(); err != nil {
			t.Errorf("%v", err)
		}
	}
}
