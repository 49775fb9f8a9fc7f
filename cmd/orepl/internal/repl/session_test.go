//go:build linux

package repl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSavedSessionKeepsItsBlocks checks that a saved session is loaded block by block, and no block continues the previous
// one.
func TestSavedSessionKeepsItsBlocks(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	lines := []string{"let v = [10, 20, 30]", "let w = v", "[1].length", "const n = 1", "const n = 2 // of two", "const text = `;// --`", "'a'.length", "[...v].length"}
	for _, line := range lines {
		u.enters(line)
	}
	u.enters(".save s.js")
	u.enters(".clear")
	if got := u.enters(".load s.js"); got != "3" {
		t.Errorf("loading printed %q", got)
	}
	if got := u.enters("[w, n, text].flat()"); got != "[ 10, 20, 30, 2, ';// --' ]" {
		t.Errorf("the loaded session has %s", got)
	}
	u.enters(".save t.js")
	s, err := os.ReadFile(filepath.Join(u.dir, "s.js"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(u.dir, "t.js")); err != nil || !strings.HasPrefix(string(again), strings.TrimSuffix(string(s), "\n")) {
		t.Errorf("%v: saved again, %s\nis\n%s", err, s, again)
	}
	// An error in a block is reported at its line of the file, and later blocks are not evaluated.
	broken := strings.Replace(string(s), "'a'.length", "'a'.length()", 1)
	if err := os.WriteFile(filepath.Join(u.dir, "broken.js"), []byte(broken+";// ---\nlet late = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := strconv.Itoa(strings.Count(broken[:strings.Index(broken, "'a'.length")], "\n") + 1)
	if got := u.enters(".load broken.js"); !strings.Contains(got, "broken.js:"+at+":") {
		t.Errorf("the error is\n%s\nwhere is line %s?", got, at)
	}
	if got := u.enters("typeof late"); got != "'undefined'" {
		t.Errorf("late is %s", got)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return
	}
	plain := strings.Replace(string(s), "const n = 2", "n === 1", 1) + "console.log(w.length, n)\n"
	if out, err := exec.Command(node, "-e", plain).CombinedOutput(); err != nil || string(out) != "3 1\n" {
		t.Errorf("node: %v %s", err, out)
	}
}

// TestLoadOfModules checks that a file with exports is loaded as if it had none.
func TestLoadOfModules(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("m.js", "import { f32 } from 'offload'\nconst hidden = 2\nexport const a = 1, { b } = { b: hidden }\nexport { hidden as c, a as default }\nexport function twice(x) { return 2 * x }\n")
	write("d.ts", "export type T = number\nexport default class Named { n: T = 3 }\n")
	write("e.js", "export default () => 5\n")
	write("bad.js", "import { f32 } from 'offload'\n\nexport const = 1\n")
	for _, c := range []struct{ line, want string }{
		{".load m.js", ""},
		{"[a, b, hidden, twice(4), f32]", "[ 1, 2, 2, 8, f32 ]"},
		{".load d.ts", ""},
		{"new Named().n", "3"},
		{".load e.js", ""},
		{"'default' in globalThis", "false"},
		{"export const typed = 7", ""},
		{"typed", "7"},
	} {
		if got := u.enters(c.line); got != c.want {
			t.Errorf("%s\nprinted\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
	if got := u.enters(".load bad.js"); !strings.Contains(got, "bad.js:3:14") {
		t.Errorf("the error is at another place:\n%s", got)
	}
}

// TestTimeAgreesWithBench checks that .time compiles code once and measures like bench.
func TestTimeAgreesWithBench(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.enters("const z = device('cpu').buffer(f32, 16), nop = kernel((g, z) => { z[g.x] = 1 })")
	u.enters("let calls = 0")
	if got := u.enters(".time 7 ++calls"); !strings.HasPrefix(got, "7\n7 times: median ") {
		t.Errorf("printed %q", got)
	}
	fastest := regexp.MustCompile(`fastest ([\d.]+) (ns|µs|ms)`)
	unit := map[string]float64{"ns": 1e-6, "µs": 1e-3, "ms": 1}
	for _, code := range []string{"nop.launch({ size: 16 }, z)", "Math.sqrt(2)"} {
		m := fastest.FindStringSubmatch(u.enters(".time 500 " + code + ";"))
		if m == nil {
			t.Fatal("no time")
		}
		timed, _ := strconv.ParseFloat(m[1], 64)
		timed *= unit[m[2]]
		benched, err := strconv.ParseFloat(u.enters("(await bench('b', () => "+code+")).least"), 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: .time %g ms, bench %g ms", code, timed, benched)
		if timed > 8*benched || benched > 8*timed { // compilation at each call would take 25 to 76 times as long
			t.Errorf("%s: .time says %g ms, bench %g ms", code, timed, benched)
		}
	}
}

// TestFilesAtTheStart checks that the start-up file is loaded first in each session, then the file of -i.
func TestFilesAtTheStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("config/orepl/init.js", "const mine = 5\nlet seen = []")
	write("lib/tools.js", "export const tool = 6")
	write("lib/work.js", "import { tool } from './tools.js'\nexport const work = tool + mine\nseen.push('work')\n")
	config, work := "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), filepath.Join(dir, "lib/work.js")
	u := sitIn(t, []string{os.Args[0], "-i", work}, 80, 24, config)
	u.prompted(0)
	if got := u.enters("[mine, work, tool, seen]"); got != "[ 5, 11, 6, [ 'work' ] ]" {
		t.Errorf("the files gave %s", got)
	}
	u.enters(".clear")
	if got := u.enters("[mine, typeof work]"); got != "[ 5, 'undefined' ]" {
		t.Errorf("a new session has %s", got)
	}
	u.enters(".save s.js")
	if s, err := os.ReadFile(filepath.Join(u.dir, "s.js")); err != nil || strings.Contains(string(s), "const mine") {
		t.Errorf("%v: saved\n%s", err, s)
	}
	u = sitIn(t, []string{os.Args[0], "--no-init"}, 80, 24, config)
	u.prompted(0)
	if got := u.enters("typeof mine"); got != "'undefined'" {
		t.Errorf("--no-init: mine is %s", got)
	}
	write("bad.js", "const a = 1\nnothing()\n")
	u = sitIn(t, []string{os.Args[0]}, 80, 24, "OREPL_INIT="+filepath.Join(dir, "bad.js"))
	u.prompted(0)
	u.sees(0, "nothing is not defined")
	if got := u.enters("1 + 1"); got != "2" {
		t.Errorf("after a wrong start-up file, 1 + 1 is %s", got)
	}
}

// TestBenchAtThePrompt checks that results of bench display units and table is defined, while fields stay numbers.
func TestBenchAtThePrompt(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	got := u.enters("const r = await bench('sum', () => 1 + 1, { repeats: 5, bytes: 8 }); r")
	if !regexp.MustCompile(`^sum: median [\d.]+ (ns|µs|ms), 95 % in [\d.]+ \S+ … [\d.]+ \S+\n  least [\d.]+ \S+, most [\d.]+ \S+, [\d.]+ GB/s, 5 × \d+ calls,`).MatchString(got) {
		t.Errorf("printed\n%s", got)
	}
	if got := u.enters("[typeof r.median, JSON.stringify(r).includes('median'), Object.keys(r)[0]].join()"); got != "'number,true,median'" {
		t.Errorf("its fields are %s", got)
	}
	if got := u.enters("table().split('\\n').length"); got < "2" || got > "5" || len(got) > 1 { // notes follow, such as that the times are noisy
		t.Errorf("the table has %s lines", got)
	}
}

// TestHistogramInNarrowTerminals checks that a histogram fits a narrow terminal.
func TestHistogramInNarrowTerminals(t *testing.T) {
	u := sit(t, 22, 30)
	u.prompted(0)
	u.enters("const x = device().buffer(f32, 3000, i => i * 1000)")
	row := u.row()
	if got := u.enters("??x"); strings.Count(got, "█") < 40 {
		t.Errorf("printed\n%s", got)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	bars := 0
	for i := row; i < len(u.screen.lines); i++ {
		if strings.Contains(u.screen.line(i), "█") {
			bars++
			if !regexp.MustCompile(` \d+$`).MatchString(u.screen.line(i)) {
				t.Errorf("line %q has no count", u.screen.line(i))
			}
		}
	}
	if bars != 16 {
		t.Errorf("%d lines have bars", bars)
	}
}
