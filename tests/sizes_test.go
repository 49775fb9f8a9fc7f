package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// runText runs a script in a folder on the CPU and returns its output.
func runText(t *testing.T, dir, text string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: dir, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "sizes.js", text)
	return out.String(), err
}

// replaced returns a text with the value of a constant replaced.
func replaced(t *testing.T, text, name, value string) string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)(\bconst [^\n]*?\b` + regexp.QuoteMeta(name) + ` = )([^,\n]+?)(,|$)`)
	if len(declared.FindAllString(text, -1)) != 1 {
		t.Fatalf("%d declarations of %s in\n%s", len(declared.FindAllString(text, -1)), name, text)
	}
	return declared.ReplaceAllString(text, "${1}"+value+"${3}")
}

// TestRecipeSizes runs each recipe that has a size at many sizes, and compares its result with one computed on the host.
func TestRecipeSizes(t *testing.T) {
	page, err := os.ReadFile("../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	checks := map[string]string{
		"Sum, least and greatest": `
let sum = 0, least = Infinity, most = -Infinity
for (let i = 0; i < n; i++) { const v = i % 1000; sum += v; least = Math.min(least, v); most = Math.max(most, v) }
if (all[0] !== sum || all[groups] !== least || all[2 * groups] !== most) throw new Error([all[0], sum, all[groups], least, all[2 * groups], most].join())`,
		"Dot product": `
let sum = 0
for (let i = 0; i < n; i++) sum += 2 * (i % 10)
const got = (await parts.read()).reduce((a, b) => a + b, 0)
if (got !== sum) throw new Error(got + ' ' + sum)`,
		"Prefix sums": `
let sum = 0
for (let i = 0; i < n; i++) if (r[i] !== (sum += i % 3)) throw new Error(i + ': ' + r[i] + ' ' + sum)`,
		"Sort": `
const want = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761) >>> 0).sort()
if (sorted.length !== n || sorted.some((v, i) => v !== want[i])) throw new Error('not sorted')`,
		"Random numbers": `
const got = await hits.read()
if (n > 1000 && Math.abs(mean - Math.PI) > 0.2) throw new Error(mean)
for (let i = 0; i < n; i += 97) { const x = random(2026, 0, i), y = random(2026, 1, i); if (got[i] !== (Math.fround(Math.fround(x * x) + Math.fround(y * y)) < 1 ? 4 : 0) && Math.abs(x * x + y * y - 1) > 1e-6) throw new Error(i) }`,
		"Plot": `
if ((await x.read()).length !== n) throw new Error('wrong length')`,
		"Many devices": `
if (n > 16 && Math.abs(sums.reduce((a, b) => a + b) - Math.PI) > 1e-3) throw new Error(sums.join())`,
	}
	sizes := []string{"0", "1", "3", "255", "257", "65_537", "100_003"}
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		sizes = append(sizes, "2", "7", "31", "32", "33", "256", "511", "513", "65_535", "65_536", "1_000_000", "16_777_217", "20_000_000")
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	block := regexp.MustCompile("(?s)```js\n(.*?)```")
	for _, section := range sections {
		title, text, _ := strings.Cut(section, "\n")
		code := block.FindStringSubmatch(text)
		check, ok := checks[title]
		if code == nil || !ok {
			if title != "Arguments of a script" && title != "Programs" {
				t.Errorf("the recipe %q has no check of its sizes", title)
			}
			continue
		}
		delete(checks, title)
		for _, n := range sizes {
			script := strings.ReplaceAll(replaced(t, code[1], "n", n), "r[n - 1]", "r[r.length - 1]") + check
			if len(n) > 8 && (title == "Sort" || title == "Prefix sums" || title == "Random numbers") {
				continue // the script's own check takes long
			}
			if _, err := runText(t, t.TempDir(), script); err != nil && !clearError(title, n, err) {
				t.Errorf("%s, n = %s: %s", title, n, diag.Format(err, false))
			}
		}
	}
	for title := range checks {
		t.Errorf("there is no recipe %q", title)
	}
}

// clearError reports whether a recipe may end with this error at a size.
func clearError(title, n string, err error) bool {
	return title == "Plot" && n == "0" && strings.Contains(err.Error(), "no ")
}

// lists are the texts of sizes that are lists.
var lists = map[string]string{"m, k, n": "[37, 50, 41]", "queens": "[4, 5, 6, 7, 8]"}

// TestExampleSizes runs the examples of kernels, which check their results, with other sizes.
func TestExampleSizes(t *testing.T) {
	for _, c := range []struct {
		file, name string
		values     []string
		wrong      map[string]string // errors by value
	}{
		{"bitonic", "n", []string{"0", "1", "2", "3", "513", "66_000"}, nil},
		{"blackscholes", "n", []string{"0", "1", "9"}, nil},
		{"blelloch", "n", []string{"0", "1", "257", "65_537"}, nil},
		{"compact", "n", []string{"0", "1", "129", "65_537"}, nil},
		{"convolution", "n", []string{"0", "1", "2", "5", "1_025"}, nil},
		{"fft", "bits", []string{"0", "1", "2", "6"}, nil},
		{"floyd", "n", []string{"0", "1", "2", "17"}, nil},
		{"gemm", "m, k, n", []string{"[1, 1, 1]", "[16, 16, 16]", "[17, 15, 33]", "[5, 0, 5]", "[0, 3, 2]"}, nil},
		{"histogram", "n", []string{"0", "1", "257", "65_537"}, nil},
		{"jacobi", "n", []string{"1", "2", "3", "17"}, nil},
		{"kmeans", "n", []string{"0", "1", "257"}, nil},
		{"lu", "n", []string{"0", "1", "2", "17"}, nil},
		{"nbody", "n", []string{"0", "1", "2", "33"}, nil},
		{"spmv", "n", []string{"0", "1", "257"}, nil},
		{"life", "n", []string{"5", "16", "17"}, nil},
		{"mandelbrot", "w", []string{"1", "61"}, nil},
		{"spheres", "w", []string{"1", "49"}, nil},
		{"queens", "queens", []string{"[]", "[3]", "[1]", "[16]"}, map[string]string{"[]": "values", "[3]": "values", "[1]": "1 queens", "[16]": "16 queens"}},
	} {
		text, err := os.ReadFile("../examples/kernels/" + c.file + ".js")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		check, err := os.ReadFile("../examples/kernels/check.js")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "check.js"), check, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.values {
			var script string
			if list, ok := lists[c.name]; ok {
				script = strings.Replace(string(text), list, v, 1)
			} else {
				script = replaced(t, string(text), c.name, v)
			}
			_, err := runText(t, dir, script)
			if want := c.wrong[v]; want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
				t.Errorf("%s, %s = %s: %s", c.file, c.name, v, diag.Format(err, false))
			}
		}
	}
}
