//go:build linux

package repl_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func TestHistoryOutlivesTheSession(t *testing.T) {
	file := "OREPL_HISTORY=" + filepath.Join(t.TempDir(), "kept")
	u := sit(t, 80, 24, file)
	u.prompted(0)
	u.enters("const übung = [", "'é',", "2]")
	u.press("\x04")
	if code := u.leaves(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	u = sit(t, 80, 24, file)
	u.prompted(0)
	u.press("\x1b[A")
	u.edits(`> const übung = [`)
	u.until("the block", func(s *screen) bool { return unnumbered(s.text(s.row)) == "> const übung = [\n... 'é',\n... 2]" })
	row := u.row()
	u.press("\r")
	u.prompted(row)
	u.enters("übung.length")
	u.sees(0, "\n2\n")
	u.press("\x12bung = ")
	u.until("the search", func(s *screen) bool { return strings.Contains(s.line(s.row), ": const übung = [↵") })
	u.press("\x1b[D")
	u.edits(`... 2]`)
	u.press("!")
	u.edits(`... 2!]`)
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
	}{
		{"process.exit(3)", 3},
		{"setTimeout(() => process.exit(4), 50);", 4}, // during the editing of the next line
		{"await new Promise(() => setTimeout(() => process.exit(5), 1))", 5},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			u := sit(t, 80, 24)
			u.prompted(0)
			u.types(c.line)
			u.press("\r")
			if code := u.leaves(); code != c.code {
				t.Errorf("exit code %d, not %d", code, c.code)
			}
		})
	}
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	for _, line := range []string{"", "while (true);\r"} {
		u := sit(t, 80, 24)
		u.prompted(0)
		u.press("half" + line)
		u.sees(0, "> half")
		if err := u.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := u.leaves(); code != 128+15 {
			t.Errorf("exit code %d", code)
		}
	}
}

func TestSecondInterruptLeavesWhatDoesNotStop(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a huge object")
	}
	u := sit(t, 80, 24)
	u.prompted(0)
	u.types("(({ a, ...b }) => b)('x'.repeat(4e6))") // takes minutes in a native function
	u.press("\r")
	u.until("the line to run", func(s *screen) bool { return s.row > 1 })
	u.busy()
	u.press("\x03")
	u.sees(0, "Ctrl-C again leaves orepl")
	u.press("\x03")
	if code := u.leaves(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

func TestColoursOnATerminal(t *testing.T) {
	u := sit(t, 80, 24, "NO_COLOR=")
	u.prompted(0)
	u.enters("[1, 'a']")
	u.mu.Lock()
	defer u.mu.Unlock()
	if !strings.Contains(u.raw.String(), "[ \x1b[33m1\x1b[0m, \x1b[32m'a'\x1b[0m ]") {
		t.Errorf("no colours in %q", u.raw.String())
	}
}

func TestTerminalThatCannotEdit(t *testing.T) {
	u := sit(t, 80, 24, "TERM=dumb")
	u.prompted(0)
	if got := u.enters("[1,", "2].length"); got != "2" {
		t.Errorf("printed %q", got)
	}
	u.press("\x04")
	if code := u.leaves(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if strings.Contains(u.raw.String(), "\x1b") {
		t.Errorf("control sequences in %q", u.raw.String())
	}
}

func TestWithoutATerminalItIsAScript(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm")
	cmd.Stdin = strings.NewReader("const x = [1, 2]\nconsole.log(x)\n'unprinted'\n")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "[ 1, 2 ]\n" || stderr.String() != "" {
		t.Errorf("printed %q and %q", stdout.String(), stderr.String())
	}
}

func TestOutputThatIsNoTerminalHasNoPrompts(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm")
	cmd.Stdin = slave
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if _, err := master.WriteString("1 +\n1\n.exit\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "2\n" {
		t.Errorf("printed %q", stdout.String())
	}
}

// TestWordsOfOtherPrompts checks that words of other prompts name the equivalent command, until a script defines them.
func TestWordsOfOtherPrompts(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	for _, c := range []struct{ line, want string }{
		{"exit", "write .exit: leave; also Ctrl-D"},
		{"quit()", "write .exit: leave; also Ctrl-D"},
		{".quit", "error: there is no command .quit [not-found]\nhint: did you mean .exit? .help lists the commands"},
		{"clear;", "write .clear: start anew: end timers, forget names, release buffers"},
		{"const exit = () => 'mine'", ""},
		{"exit()", "'mine'"},
		{"Promise.resolve(5)", "Promise { 5 }\na promise: await gives its value, as in: await _"},
		{"await _", "5"},
		{"[Promise.resolve(5)]", "[ Promise { 5 } ]"},
	} {
		if got := u.enters(c.line); got != c.want {
			t.Errorf("%s printed %q", c.line, got)
		}
	}
	if got := u.enters("help"); !strings.Contains(got, ".exit      leave; also Ctrl-D") {
		t.Errorf("help printed %q", got)
	}
}

// TestQuestionBehindAName checks that NAME? is equivalent to ?NAME, and that a condition may continue on the next line.
func TestQuestionBehindAName(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	u.enters("const twice = x => 2 * x")
	for _, c := range []struct{ lines, want string }{
		{"twice?", "head       x"},
		{"twice??", "x => 2 * x"},
		{"fs.readText?", "readText(path: string): Promise<string>"},
		{"twice ?\n'yes' :\n'no'", "'yes'"},
	} {
		if got := u.enters(strings.Split(c.lines, "\n")...); !strings.Contains(got, c.want) {
			t.Errorf("%s printed\n%s", c.lines, got)
		}
	}
	if got := u.enters("help()"); !strings.Contains(got, "\nkernel-language  Names of the kernel language") || !strings.Contains(got, "\nfs               ") {
		t.Errorf("help() printed\n%s", got)
	}
}

// TestLongExplanations checks that long output of .explain is cut, but not in a file.
func TestLongExplanations(t *testing.T) {
	u := sit(t, 80, 10)
	u.prompted(0)
	u.enters("const k = kernel({ x: [f64] }, (g, x) => { x[g.x] = Math.sin(x[g.x]) })")
	got := u.enters(".explain k js")
	if n := strings.Count(got, "\n"); n > 70 || !strings.Contains(got, "more lines; .explain k js FILE writes all of them") {
		t.Errorf("%d lines:\n%s", n, got)
	}
	u.enters(".explain k js k.js")
	if text, err := os.ReadFile(filepath.Join(u.dir, "k.js")); err != nil || strings.Count(string(text), "\n") < 80 {
		t.Errorf("%v: wrote %s", err, text)
	}
	if err := os.WriteFile(filepath.Join(u.dir, "k.js"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := u.enters(".explain k js k.js"); !strings.Contains(got, "file exists") || !strings.Contains(got, ".explain -f k js k.js replaces it") {
		t.Errorf("an existing file: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(u.dir, "k.js")); err != nil || string(text) != "mine" {
		t.Errorf("%v: the file is now %s", err, text)
	}
	u.enters(".explain -f k js k.js")
	if text, err := os.ReadFile(filepath.Join(u.dir, "k.js")); err != nil || strings.Count(string(text), "\n") < 80 {
		t.Errorf("%v: replaced by %s", err, text)
	}
}

// TestFailuresThatNobodyWaitsFor checks that a failure without a waiting call is reported once, during editing, that later lines do
// not fail with it while its event does, and that other failures are not reported.
func TestFailuresThatNobodyWaitsFor(t *testing.T) {
	u := sit(t, 100, 40)
	u.prompted(0)
	u.enters("const b = device('cpu').buffer(f32, 4), k = kernel((g, x) => { x[g.x] = 1 })")
	if got := u.enters("await k.launch({ size: 5 }, b)"); !strings.Contains(got, "index 4 is outside x") {
		t.Errorf("printed %q", got)
	}
	u.enters("k.launch({ size: 6 }, b).then(() => {}, error => { globalThis.caught = error.code });")
	u.enters("const failing = k.launch({ size: 7 }, b);")
	u.press("half a line")
	u.sees(0, "no line waits for this command, so its error is shown now; later lines do not fail with it")
	u.edits("> half a line")
	u.press("\x03")
	u.enters("1")
	u.enters("failing")
	u.sees(0, "Event (failed: out-of-bounds) of queue")
	if got := u.enters("await b.read()"); !strings.Contains(got, "Float32Array(4) [") {
		t.Errorf("the read printed %q", got)
	}
	if got := u.enters("await failing"); !strings.Contains(got, "work-item [4, 0, 0]") {
		t.Errorf("the event gave %q", got)
	}
	if got := u.enters("caught"); got != "'out-of-bounds'" {
		t.Errorf("caught %q", got)
	}
	if n := strings.Count(u.all(0), "no line waits for this command"); n != 1 {
		t.Errorf("reported %d times", n)
	}
	for _, size := range []int{8, 9} {
		u.enters(fmt.Sprintf("k.launch({ size: %d }, b);", size))
		at := u.row()
		u.sees(at, "no line waits for this command")
	}
	if text := u.all(0); strings.Contains(text, "more command failed") {
		t.Error("a reported failure is counted again")
	}
}

// TestChangedCaptures checks that a launch warns once if a captured variable has changed since the kernel was made.
func TestChangedCaptures(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.enters("const x = device('cpu').buffer(f32, 2); let n = 3; const twice = v => 2 * v")
	u.enters("const k = kernel((g, x) => { x[g.x] = twice(n) }), run = async () => { await k.launch({ size: 2 }, x); return (await x.read()).join() }")
	for _, c := range []struct{ line, want string }{
		{"await run()", "'6,6'"},
		{"n = 5", "5"},
		{"await run()", "warning: n is 5 now, but the kernel k was made when it was 3, and goes on with that\n"},
		{"await run()", "'6,6'"},
		{"const twice = v => 3 * v", ""},
		{"await k.launch({ size: 2 }, x)", "warning: twice has another value than at the creation of the kernel k, which keeps the old one\n"},
		{"n = 3", "3"},
		{"await k.launch({ size: 1 }, x)", ""},
	} {
		got := u.enters(c.line)
		if exact := !strings.HasSuffix(c.want, "\n"); exact && got != c.want || !exact && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\nprinted\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
}

// TestChangedCapturesOfOneBlock checks the warnings for variables in the kernel's own block and for members of captured
// objects and arrays.
func TestChangedCapturesOfOneBlock(t *testing.T) {
	u := sit(t, 160, 40)
	u.prompted(0)
	u.enters("const x = device('cpu').buffer(f32, 4), go = async k => { await k.launch({ size: 4 }, x); return (await x.read()).join() }")
	for _, c := range []struct{ line, want string }{
		{"let q = 1; const kq = kernel((g, y) => { y[g.x] = q }); await go(kq)", "'1,1,1,1'"},
		{"q = 2", "2"},
		{"await go(kq)", "warning: q is 2 now, but the kernel kq was made when it was 1, and goes on with that\n"},
		{"q = 3", "3"},
		{"await go(kq)", "warning: q is 3 now, but the kernel kq was made when it was 1, and goes on with that\n"},
		{"await go(kq)", "'1,1,1,1'"},
		{"const tbl = [1, 2, 3, 4]; const kt = kernel((g, y) => { y[g.x] = tbl[g.x] }); await go(kt)", "'1,2,3,4'"},
		{"const tbl = [5, 6, 7, 8]", ""},
		{"await go(kt)", "warning: tbl is [ 5, 6, 7, 8 ] now, but the kernel kt was made when it was [ 1, 2, 3, 4 ], and goes on with that\n"},
		{"const tbl = [1, 2, 3, 4]", ""}, // the block was reloaded
		{"await go(kt)", "'1,2,3,4'"},
		{"const cfg = { r: 3, w: [1, 2], get odd() { throw 1 } }, tb = new Float32Array([1, 2, 3, 4])", ""},
		{"const kc = kernel((g, y) => { y[g.x] = cfg.r + tb[g.x] + cfg.w[1] })", ""},
		{"cfg.r = 4", "4"}, // before the first launch, which reads the field
		{"await go(kc)", "'7,8,9,10'"},
		{"cfg.r = 5", "5"},
		{"await go(kc)", "warning: cfg.r is 5 now, but the kernel kc was made when it was 4, and goes on with that\n"},
		{"cfg.r = 4; cfg.unused = 1; tb[1] = 77", "77"},
		{"await go(kc)", "warning: tb[1] is 77 now, but the kernel kc was made when it was 2, and goes on with that\n"},
		{"await go(kc)", "'7,8,9,10'"},
		{"tb[1] = 2; cfg.w.push(9)", "3"},
		{"await go(kc)", "warning: cfg.w.length is 3 now, but the kernel kc was made when it was 2, and goes on with that\n"},
		{"cfg.w = [5, 6]", "[ 5, 6 ]"},
		{"await go(kc)", "warning: cfg.w is [ 5, 6 ] now, but the kernel kc was made when it was [ 1, 2 ], and goes on with that\n"},
	} {
		got := u.enters(c.line)
		if exact := !strings.HasSuffix(c.want, "\n"); exact && got != c.want || !exact && !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\nprinted\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
}

// TestMistakesAtThePrompt checks that warnings wrap between words, and that markers are below their code for all characters
// and line lengths.
func TestMistakesAtThePrompt(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	u.enters("const dev = device('cpu'), x = dev.buffer(f32, 8)")
	for _, c := range []struct{ line, want string }{
		{"dev.buffer(f32, [1, 2, 3])", "warning: [1, 2, 3] is the shape of the buffer, which has 6 elements, all zero;\nthese are not its values\n" +
			"  --> repl-2.js:1:11\n  1 | dev.buffer(f32, [1, 2, 3])\n    |           ^\n"},
		{"x.read()[0]", "warning: x.read() is a promise, which has no elements: this is undefined\n"},
		{"x.reed()", "hint: did you mean x.read?\n"},
		{"x.read().map(v => v)", "hint: it returns a promise: write (await x.read()).map(…)\n"},
		{"const long = 'abcdefghijklmnopqrstuvwxyz', longer = long + long + long; nothing.at.all", "nothing.at.all\n    |" + strings.Repeat(" ", 59) + "^^^^^^^\n"},
		{"structuredClone(() => 1)", "error: DataCloneError: the function (anonymous) could not be cloned\n"},
		{"new URL('http://a b')", "hint: an absolute URL looks like https://host/path\n"},
	} {
		if got := u.enters(c.line) + "\n"; !strings.Contains(got, c.want) {
			t.Errorf("%s\nprinted\n%s\nwithout\n%s", c.line, got, c.want)
		}
	}
}

// TestLinesOfStrings checks that only long strings of several lines suggest console.log.
func TestLinesOfStrings(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	at := u.row()
	u.enters("'line\\n'.repeat(40)")
	u.sees(at, "console.log(_) prints its lines")
	at = u.row()
	u.enters("'a\\nb'")
	if text := u.all(at); strings.Contains(text, "console.log") {
		t.Errorf("printed\n%s", text)
	}
}
