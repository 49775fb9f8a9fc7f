package plot_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// run runs a script that can use the module's functions, device and f32.
func run(t *testing.T, stdout io.Writer, script string) error {
	t.Helper()
	return runWith(t, orepl.EngineOptions{Stdout: stdout}, script)
}

// runWith is run with options of the engine, which allow everything.
func runWith(t *testing.T, opts orepl.EngineOptions, script string) error {
	t.Helper()
	opts.Policy = lang.AllowAll
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := rt.Engine(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(ctx, "plot.js", "import { plot, text, svg, png } from 'plot'\nimport { device, struct, f16, f32, u8, i64 } from 'offload'\n"+script)
	return err
}

func TestText(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`plot([0, 1, 2, 3], { width: 20, height: 4, title: 'ramp', yLabel: 'ms', xLabel: 'n' })`, `
ramp
   ms
3 ┤             ⣀⠤⠒⠉
2 ┤        ⢀⡠⠔⠒⠉
1 ┤    ⣀⠤⠔⠊⠁
0 ┤⣀⠤⠒⠉
  └─────────────────
   0       n       3
`},
		{`plot([1, NaN, 1, Infinity, -1, 2], { width: 24, height: 5, kind: 'points' })`, `
 2 ┤                   ⠈
 1 ┤⠄       ⠄
   │
 0 ┤
-1 ┤               ⢀
   └────────────────────
    0                  5
`},
		{`plot([2, 2, NaN, 1, NaN, 2, 2], { width: 24, height: 3 })`, `
2.0 ┤⠉⠉⠉⠁           ⠈⠉⠉⠉
1.5 ┤
1.0 ┤         ⣤
    └───────────────────
     0                 6
`},
		{`plot({ up: [1, 2, 3], down: new Int8Array([3, 2, 1]) }, { width: 24, height: 3 })`, `
   ● up   ○ down
   ╳ several
3 ┤○○○○○          ●●●●●●
2 ┤     ╳╳╳╳╳╳╳╳╳╳
1 ┤●●●●●          ○○○○○○
  └─────────────────────
   0                   2
`},
		{`plot([1, 10, 100, 1000], { width: 20, height: 4, log: 'xy', x: [1, 10, 100, 1000] })`, `
1000 ┤          ⢀⡠⠔⠊
 100 ┤       ⣀⠤⠊⠁
  10 ┤   ⢀⡠⠒⠉
   1 ┤⡠⠔⠊⠁
     └──────────────
      1         1000
`},
		{`plot({ a: [NaN, Infinity], b: [NaN, NaN] }, { title: 'left out', log: 'y' }); console.log(svg([NaN]).includes('>no finite values</text>'), png([NaN]).length > 500)`, `
left out
(no finite values)
true true
`},
		{`plot({ cpu: 2, 'opencl:0': 4, worse: -2, none: NaN }, { width: 30 })`, `
     cpu       █████▌ 2
opencl:0       ███████████ 4
   worse ██████ -2
    none                   NaN
`},
		{`plot([1, 2, 2, 3, 3, 3, NaN, 4], { kind: 'histogram', bins: 3, width: 24, yLabel: 'count' })`, `
          count
1.0 … 2.0 ███ 1
2.0 … 3.0 ██████ 2
3.0 … 4.0 ████████████ 4
`},
		{`plot({ a: [1, 10], b: [100, 1000] }, { kind: 'histogram', bins: 3, log: 'x', width: 30 })`, `
    1 … 10 a ███████▌ 1
    1 … 10 b  0
  10 … 100 a ███████▌ 1
  10 … 100 b  0
100 … 1000 a  0
100 … 1000 b ███████████████ 2
`},
		{`plot({ a: [1, 2, 3, 4, 5, 20], b: [NaN], longer: [3, 3] }, { kind: 'box', width: 40, yLabel: 'ms' })`, `
     a   ├▒▒█▒▒┤                      ·
     b (no finite values)
longer      █
       0             ms              20
`},
		{`plot({ cpu: [1, 2], far: [2, -1] }, { kind: 'bars', labels: ['copy', 'add'], width: 30 })`, `
copy cpu       ██████ 1
copy far       ████████████ 2
 add cpu       ████████████ 2
 add far ██████ -1
`},
		{`plot({ host: [0, 12.5], cpu: [NaN, 45.25] }, { kind: 'heat', labels: ['host', 'cpu'], width: 30 })`, `
     host     cpu
host 0        12.5░░░░
 cpu ???????? 45.2████
0 ░▒▓█ 45.25
`},
		{`plot([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]], { labels: [...'abcdefghijkl'], width: 20 })`, `
     ░░░░▒▒▒▓▓▓█████
1 ░▒▓█ 12
`},
		{`plot([[1, 2], [3, 4]], { width: 20 })`, `
 1        2░░░░░░░
 3▓▓▓▓▓▓▓ 4███████
1 ░▒▓█ 4
`},
		{`plot({ a: { x: [1, 4], y: [3, 8] } }, { roof: { gigabytesPerSecond: 4, gigaflops: 8 }, width: 40, height: 6 })`, `
    GFLOP/s   ● a   ○ 4 GB/s, 8 GFLOP/s
    ╳ several
10 ┤
   │                ○○○○○○○╳○○○○○○○○○○○○
 5 ┤            ○○○○
   │       ○○○○○●
 2 ┤   ○○○○
 1 ┤○○○
   └────────────────────────────────────
    0.25          FLOP/byte           16
`},
		{`plot([1, 2, 3], { x: [1024, 4096, 2 ** 20], log: 'x', width: 30, height: 3 })`, `
3 ┤              ⢀⣀⣀⣀⠤⠤⠤⠔⠒⠒⠒⠉⠉
2 ┤    ⣀⠤⠤⠔⠒⠒⠒⠉⠉⠉⠁
1 ┤⣀⠤⠒⠉
  └───────────────────────────
   1 Ki                   1 Mi
`},
		{`plot([3, 1.5], { kind: 'bars', x: [2000, 2001], width: 24 })`, `
2000 ███████████████ 3
2001 ███████▌ 1.5
`},
		{`plot(device('cpu').buffer(f32, [2, 4], (i, j) => i * 4 + j))`, `
    ░░▒▒
▒▒▓▓████
0 ░▒▓█ 7
`},
		{`plot(device('cpu').buffer(i64, 3, i => i64(i)), { width: 20, height: 2 })`, `
2 ┤         ⢀⣀⡠⠤⠔⠒⠊⠉
0 ┤⣀⡠⠤⠤⠔⠒⠒⠊⠉⠁
  └─────────────────
   0               2
`},
		{`plot([5], { width: 20, height: 3 }); plot([1, 2n, true], { width: 20, height: 2 })`, `
  │
5 ┤        ⣤
  │
  └─────────────────
   -1              1
2 ┤    ⢀⡠⠤⠒⠉⠑⠢⢄⡀
1 ┤⣀⠤⠒⠊⠁       ⠈⠉⠒⠤⣀
  └─────────────────
   0               2
`},
		{`console.log(text([1, 2], { width: 20, height: 2 }).split('\n').length)`, "\n5\n"},
	} {
		var out bytes.Buffer
		if err := run(t, &out, c.script); err != nil {
			t.Errorf("%s: %s", c.script, diag.Format(err, false))
		}
		if got := "\n" + out.String(); got != c.want {
			t.Errorf("%s printed%swant%s", c.script, got, c.want)
		}
	}
}

// narrow is a terminal of 40 columns.
type narrow struct{ bytes.Buffer }

func (narrow) Columns() int { return 40 }

// TestFitsTheTerminal checks that charts are not wider than the terminal or, as text, than the option width.
func TestFitsTheTerminal(t *testing.T) {
	var term narrow
	if err := run(t, &term, `
plot(Array.from({ length: 1000 }, (_, i) => Math.sin(i) * 1e9), { title: 'waves' })
plot({ 'a very long name of a device, longer than the terminal': 3e9, b: -1 })
plot(device('cpu').buffer(f32, [30, 300], (i, j) => i * j))
plot({ a: [1e-9, 2e-9], b: [1e-9, 3e-9] }, { kind: 'points' })
`); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for line := range strings.Lines(term.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	if term.Len() == 0 {
		t.Error("nothing printed")
	}
}

// TestExtremes draws values at the ends of floats, and matrices that are much longer than wide.
func TestExtremes(t *testing.T) {
	for _, script := range []string{
		`[-1.7976931348623157e308, 1.7976931348623157e308]`, `[5e-324, 1e-323]`, `[0, -0]`, `[1e300, 1e300]`, `[5e-324]`, `[-1e-300]`, `[1, 1.0000000000000002]`,
		`[1e-320, 1e308], { log: 'y' }`, `[5e-324], { log: 'y' }`, `[1.7976931348623157e308], { log: 'y' }`, `[1, 2], { x: [1e300, -1e300] }`, `[1, 2], { x: [3, 3] }`,
		`[1, 2], { low: -1e308, high: 1e308 }`, `[1, 2], { low: 1, high: 1 }`, `[1, 1e300], { low: 1, high: 2 }`, `[0, 0, 0], { kind: 'bars' }`, `[-3, -1], { kind: 'bars' }`, `[1, 10], { kind: 'bars', log: 'y' }`,
		`device('cpu').buffer(u8, [1, 5000])`, `device('cpu').buffer(u8, [5000, 1])`, `device('cpu').buffer(f16, [1, 1])`, `[1, 2, 3], { title: '\x1b[31m\n' }`,
	} {
		var out bytes.Buffer
		if err := run(t, &out, "plot("+script+")"); err != nil || out.Len() == 0 || strings.ContainsAny(out.String(), "\x1b") || strings.Contains(out.String(), "NaN") {
			t.Errorf("%s: %v\n%s", script, err, out.String())
		}
		if strings.Contains(script, "buffer") {
			continue
		}
		out.Reset()
		if err := run(t, &out, "console.log(svg("+script+"))"); err != nil || !wellFormed(out.String()) || strings.Contains(out.String(), "NaN") {
			t.Errorf("svg of %s: %v\n%s", script, err, out.String())
		}
	}
}

func wellFormed(text string) bool {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return strings.HasPrefix(text, "<svg ")
		case err != nil:
			return false
		}
	}
}

// TestSVG writes files that stay small for many values, and whose texts are escaped.
func TestSVG(t *testing.T) {
	var out bytes.Buffer
	if err := run(t, &out, `
const many = Float32Array.from({ length: 300000 }, (_, i) => Math.sin(i / 1000))
console.log(svg(many).length < 100000, svg(many, { kind: 'points', x: many }).length < 100000)
console.log(svg({ '<a>': [1, NaN, 2, 3], '"b"': [1, 2, 3, 4] }, { title: 'a & b', xLabel: 'x\x00', yLabel: '<y>' }))
`); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	sizes, text, _ := strings.Cut(out.String(), "\n")
	if sizes != "true true" {
		t.Errorf("the files are small: %s", sizes)
	}
	if !wellFormed(text) {
		t.Errorf("not well-formed:\n%s", text)
	}
	for _, want := range []string{"&lt;a&gt;", "a &amp; b", "&lt;y&gt;", `<path d="M`, "M"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestManySeries checks that any number of series has a legend within the width, and that equal curves of a picture are both
// visible.
func TestManySeries(t *testing.T) {
	var out bytes.Buffer
	if err := run(t, &out, `
const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['series ' + i, [i, 2 * i, i * i]]))
plot(many)
plot({ a: [1, 2, 3, 4], b: [1, 2, 3, 4], c: [4, 4, 4, 4] })
console.log(svg(many))
console.log(svg({ a: [1, 2], b: [1, 2], c: [2, 1] }))
`); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	text, pictures, _ := strings.Cut(out.String(), "<svg")
	for line := range strings.Lines(text) {
		if n := columns.Of(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for i := range 30 {
		if name := fmt.Sprintf("series %d", i); !strings.Contains(text, name) || !strings.Contains(pictures, name+"<") {
			t.Errorf("%s is missing", name)
		}
	}
	if !strings.Contains(text, "● a   ○ b (= a)   ▲ c   ╳ several\n") || strings.Count(text, "╳") < 50 {
		t.Errorf("equal curves hide each other in\n%s", text)
	}
	many, twins, _ := strings.Cut(pictures, "<svg")
	if !wellFormed("<svg"+many) || !wellFormed("<svg"+twins) {
		t.Error("not well-formed")
	}
	if strings.Count(twins, "stroke-dasharray") != 1 || !strings.Contains(twins, "b (= a)") {
		t.Errorf("equal curves hide each other in\n%s", twins)
	}
}

// TestEqualValues checks that series of equal y values at other x values are not taken for equal curves.
func TestEqualValues(t *testing.T) {
	var out bytes.Buffer
	if err := run(t, &out, `
const data = { a: { x: [1, 2], y: [1, 2] }, b: { x: [3, 4], y: [1, 2] } }
plot(data)
console.log(svg(data))
`); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if strings.Contains(out.String(), "(= a)") {
		t.Errorf("series at other places count as equal in\n%s", out.String())
	}
}

// TestCurvesNamedXAndY checks that plot warns of lists x and y, which look like places and values, and only of these.
func TestCurvesNamedXAndY(t *testing.T) {
	for script, warns := range map[string]bool{
		`plot({ x: [1, 2, 3], y: [1, 4, 9] })`: true, `plot({ y: [1, 4, 9], x: [1, 2] })`: true,
		`plot([1, 4, 9], { x: [1, 2, 3] })`: false, `plot({ x: [1, 2], y: [1, 4], z: [1, 9] })`: false,
		`plot({ x: [1, 2], y: [1, 4] }, { x: [5, 6] })`: false, `plot({ x: 1, y: 2 })`: false, `plot({ x: [1, 2], y: [1, 4] }, { kind: 'bars' })`: false,
		`plot({ x: { x: [1], y: [2] }, y: { x: [1], y: [2] } })`: false,
	} {
		var out, warned bytes.Buffer
		if err := runWith(t, orepl.EngineOptions{Stdout: &out, Stderr: &warned}, script); err != nil || out.Len() == 0 {
			t.Errorf("%s: %v, printed %q", script, err, out.String())
		}
		if strings.Contains(warned.String(), "plot(y, { x })") != warns || warned.Len() > 0 != warns {
			t.Errorf("%s: warned %q", script, warned.String())
		}
	}
}

func TestMistakes(t *testing.T) {
	for script, want := range map[string]string{
		`plot()`:     "data must be numbers: an array, a typed array or a buffer",
		`plot(null)`: "data must be numbers", `plot('a')`: "data must be numbers", `plot(() => 1)`: "data must be numbers", `plot({})`: "data must be numbers", `plot([['a']])`: "data must be numbers", `plot(device('cpu'))`: "data must be numbers",
		`plot([])`:                 "data has no values",
		`plot({ a: 1, b: 'x' })`:   `data has a number for "a", but the string "x" for "b"`,
		`plot({ a: [1], b: 'x' })`: `data has the string "x" for "b", which are no numbers`,
		`plot({ a: [1], b: [2, 3] }, { kind: 'bars' })`:                                 `data has 1 number for "a" and 2 for "b", which are no groups of bars`,
		`plot([[1], [2, 3]])`:                                                           "data has a row of 1 number and one of 2",
		`plot({ a: { x: [1], y: [2, 3] } })`:                                            "data has 1 number as x and 2 as y",
		`plot({ a: { x: [1], y: [2] } }, { x: [1] })`:                                   `options have x, and so has "a"`,
		`plot([1, 2], { kind: 'histogram', bins: 0 })`:                                  "options must have a whole number from 1 to 200 as bins, not 0",
		`plot([1, 2], { bins: 3 })`:                                                     "options have bins, which only a 'histogram' has",
		`plot([0, 2], { kind: 'histogram', log: 'x' })`:                                 "data has 0 along x, which a logarithmic axis cannot show",
		`plot([1, 2], { kind: 'hist' })`:                                                "did you mean 'histogram'?",
		`plot([1, 2], { kind: 'boxplot' })`:                                             "did you mean 'box'?",
		`plot([1, 2], { labels: ['a', 'b'] })`:                                          "options have labels, which this chart has no use for",
		`plot([[1, 2]], { labels: ['a'] })`:                                             "options have 1 label for 2 values",
		`plot([1, 2], { kind: 'bars', labels: 'ab' })`:                                  "options must have an array of texts as labels",
		`plot([1, 2], { roof: { gigabytesPerSecond: 1 } })`:                             "options must have { gigabytesPerSecond, gigaflops } as roof",
		`plot([1, 2], { kind: 'bars', roof: { gigabytesPerSecond: 1, gigaflops: 1 } })`: "options have a roof, which 'bars' has no use for",
		`plot([1, 2], { kind: 'box', error: [1, 2] })`:                                  "options have error, which 'box' has no use for",
		`plot({ a: Array(101).fill(1), b: Array(101).fill(1) }, { kind: 'bars' })`:      "data has 202 bars; a chart shows at most 200",
		`plot({ a: 1 }, { kind: 'line' })`:                                              "data has one number for each name, which are drawn as 'bars', not as 'line'",
		`plot(Array(201).fill(1), { kind: 'bars' })`:                                    "data has 201 bars; a chart shows at most 200",
		`plot([1, 2], { kind: 'heat' })`:                                                "data must be a buffer of 2 dimensions or an array of rows for 'heat'",
		`plot([1, 2], { kind: 'lines' })`:                                               "did you mean 'line'?",
		`plot([1, 2], { log: 'z' })`:                                                    "options must have one of 'x', 'y', 'xy' as log",
		`plot([0, 1], { log: 'y' })`:                                                    "data has 0 along y, which a logarithmic axis cannot show",
		`plot([1, 1], { log: 'x' })`:                                                    "data has 0 along x, which a logarithmic axis cannot show",
		`plot([1, 2], { low: 3 })`:                                                      "options leave no values between low 3 and high 2",
		`plot([1, 2], { low: 'a' })`:                                                    "options must have a finite number as low",
		`plot([1, 2], { low: 0, log: 'y' })`:                                            "options have low 0, which a logarithmic axis cannot show",
		`plot([1, 2], { width: 19 })`:                                                   "options must have a whole number from 20 to 1000 as width, not 19",
		`plot([1, 2], { height: 2.5 })`:                                                 "options must have a whole number from 2 to 1000 as height, not 2.5",
		`plot([1, 2], { title: 3 })`:                                                    "options must have a text as title",
		`plot([1, 2], { x: [1] })`:                                                      "options have 1 number as x for 2 values",
		`plot([1, 2], { x: 'ab' })`:                                                     "options must have numbers as x",
		`plot({ a: 1 }, { x: [1] })`:                                                    "options have x, which this chart has no use for",
		`plot([1, 2], { titel: 'a' })`:                                                  `options have no "titel"`,
		`svg([1], { width: 100 })`:                                                      "options must have a whole number from 160 to 10000 as width",
		`const b = device('cpu').buffer(f32, 4); b.free(); plot(b)`:                     "freed",
		`plot(device('cpu').buffer(struct({ a: f32 }, 'S'), 4))`:                        "data must be numbers",
	} {
		var out bytes.Buffer
		err := run(t, &out, script)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s printed %s", script, out.String())
		}
	}
}

// TestLabels checks which values of axes have labels: round ones over the whole range of a logarithmic axis, and along x the places of
// values. No label leaves the picture. The legend has a sample for each of many series.
func TestLabels(t *testing.T) {
	var out bytes.Buffer
	err := run(t, &out, `
const labels = (data, o) => [...svg(data, o).matchAll(/<text x="([^"]*)" y="[^"]*" text-anchor="(\w+)">([^<]*)</g)]
const of = (anchor, data, o) => labels(data, o).filter(m => m[2] === anchor).map(m => m[3]).join(' ')
for (const y of [[2.5, 5, 65], [5, 30], [3, 7], [1, 1e9], [0.002, 0.9], [900, 1100]]) console.log(of('end', y, { log: 'y' }))
const x = [1024, 4096, 16384, 65536]
console.log(of('middle', [1, 2, 3, 4], { x, log: 'x' }))
console.log(of('middle', [1, 2, 3, 4], { x: [1024, 4096, 4100, 65536], log: 'x' }))
console.log(of('middle', [1, 2, 3, 4]))
console.log(of('middle', [1, 2, 3, 4], { x: [0.1, 0.37, 0.5, 1.1] }))
for (const at of [x, [1e7, 2e7, 3e7, 4e7]]) {
  const [, end, , text] = labels([1, 2, 3, 4], { x: at, log: 'x' }).filter(m => m[2] === 'middle').at(-1)
  console.log(text, Number(end) + 3.5 * text.length < 640)
}
const many = svg(Object.fromEntries(Array.from({ length: 12 }, (_, i) => ['s' + i, [i, i + 1]])))
console.log(new Set([...many.matchAll(/<path d="M\d+ ([\d.]+)L\d+ \1" fill="none"[^>]*\/>\n<[^>]*>/g)].map(m => m[0].replace(/(d|x|y|cx|cy)="[^"]*"/g, '').replace(/ +/g, ' '))).size)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	const want = `5 10 20 50
5 10 20
3 4 5 6 7
1 100 10000 1e6 1e8
0.01 0.1 1
900 950 1000 1050 1100
1 Ki 4 Ki 16 Ki 64 Ki
2000 5000 10000 20000 50000
0 1 2 3
0.2 0.4 0.6 0.8 1.0
64 Ki true
4e7 true
12
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
