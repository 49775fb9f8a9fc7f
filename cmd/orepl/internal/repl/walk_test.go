//go:build linux

package repl_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/repl.md")

const golden = "../../../../docs/repl.md"

// walk is a user who records the session.
type walk struct {
	*user
	doc strings.Builder
}

// part performs an action at the prompt and records the screen after a heading and a text.
func (w *walk) part(title, text string, act func()) {
	w.t.Helper()
	from := w.row()
	act()
	shown := lastPrompt.ReplaceAllString(w.all(from), "")
	fmt.Fprintf(&w.doc, "\n## %s\n\n%s\n\n```text\n%s\n```\n", title, strings.TrimSpace(text), strings.TrimRight(shown, "\n"))
}

// lastPrompt matches the empty prompt below a part.
var lastPrompt = regexp.MustCompile(`\n?\d+>$`)

// expect enters lines and checks that their output contains a text; an empty text requires no output.
func (w *walk) expect(want string, lines ...string) {
	w.t.Helper()
	got := w.enters(lines...)
	if want == "" && got != "" || !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
		w.t.Errorf("%s\nprinted\n%s\nwithout %q", strings.Join(lines, "\n"), got, want)
	}
}

// completes types the start of a line, presses Tab, checks the completed line, and discards it.
func (w *walk) completes(line, whole string) {
	w.t.Helper()
	w.types(line)
	w.user.completes("> " + whole)
	w.giveUp()
}

// interrupts enters a line, presses Ctrl-C during its run, and measures the time until it stops.
func (w *walk) interrupts(line string) {
	w.t.Helper()
	w.types(line)
	row := w.row()
	w.press("\r")
	took := w.interrupt(row)
	w.t.Logf("%s stopped after %v", line, took)
	if took > stopTime {
		w.t.Errorf("%s stopped after %v", line, took)
	}
	w.sees(row, "stopped with Ctrl-C")
}

// stopTime bounds the time of a stop. The goal is 0.2 s on an idle machine.
const stopTime = 15 * time.Second

func TestWalk(t *testing.T) {
	for _, size := range []struct{ columns, rows int }{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			t.Parallel()
			w := &walk{user: sit(t, size.columns, size.rows)}
			w.prompted(0)
			w.doc.WriteString(preface)
			w.values()
			w.blocks()
			w.awaits()
			w.devices()
			w.helps()
			w.completions()
			w.background()
			w.stops()
			w.pastes()
			w.history()
			w.commands()
			w.ends()
			w.compare(size.columns == 80)
		})
	}
}

const preface = `# The prompt

` + "`orepl`" + ` alone, in a terminal, is the prompt. This page is the record of a session. A test types the input that follows the prompts,
and compares the screen with this text (` + "`go test ./cmd/orepl/internal/repl -update`" + ` writes it anew).

If standard input is not a terminal, it is run as a script, without prompts: ` + "`echo 'console.log(1 + 1)' | orepl`" + `.

| | |
|---|---|
| ` + "`orepl`" + ` | the prompt |
| ` + "`orepl -i FILE`" + ` | the prompt, after loading a file as ` + "`.load`" + ` does |
| ` + "`orepl FILE [ARGS…]`" + ` | runs a file, as ` + "`orepl run`" + ` |
| ` + "`orepl -e CODE [ARGS…]`" + ` | runs code as a script. The names of the prompt are global and ` + "`args`" + ` has ARGS; the value of the code is not printed |

Each session first loads a start-up file: the one that ` + "`OREPL_INIT`" + ` names, or ` + "`orepl/init.js`" + ` in ` + "`$XDG_CONFIG_HOME`" + ` or ` + "`~/.config`" + `. It
loads none if ` + "`OREPL_INIT`" + ` is empty, or with ` + "`--no-init`" + `.

- The prompt has no escape to a shell: ` + "`await process.run('ls', ['-l'])`" + ` starts a program.
- ` + "`plot(x)`" + ` draws numbers as text, and ` + "`??x`" + ` a histogram. ` + "`svg`" + ` of the module 'plot' and ` + "`fs.writeImage`" + ` write pictures.
- There is no kernel for notebooks.
`

func (w *walk) values() {
	w.part("Values", `
The value of an expression, unless it is `+"`undefined`"+`, is printed and kept as `+"`_`"+`. A semicolon at the end silences it.`, func() {
		w.expect("2", "1 + 1")
		w.expect("", "const squares = [1, 2, 3].map(x => x * x)")
		w.expect("[ 1, 4, 9 ]", "squares")
		w.expect("total: 14", "{ total: squares.reduce((a, b) => a + b), of: squares }")
		w.expect("14", "_.total")
		w.expect("", "_ * 3;")
		w.expect("42", "_")
	})
	w.part("Declarations", `
Names may be declared again. If a declaration fails, a later line can declare the same name. The last error is kept as `+"`_error`"+`.`, func() {
		w.expect("", "const n = 1")
		w.expect("", "const n = 2; class Point { constructor(x) { this.x = x } }")
		w.expect("ReferenceError: missing is not defined", "let later = missing()")
		w.expect("'missing is not defined'", "_error.message")
		w.expect("", "let later = n; class Point { constructor(x) { this.y = x } }")
		w.expect("Point { y: 2 }", "new Point(later)")
	})
}

func (w *walk) blocks() {
	w.part("Blocks", `
A block with an open bracket, template or comment, or with an operator at its end, continues on the next line.

- Enter runs a complete block, wherever the cursor is in it. Alt-Enter begins a new line in any block.
- The arrow keys move within the block. On its first and last line, Up and Down go through the history; after Up, the cursor
  stays on the first line.
- `+"`Ctrl-_`"+` undoes a change, and `+"`Alt-_`"+` redoes it. Ctrl-X Ctrl-E edits the block in the program that `+"`VISUAL`"+`
  or `+"`EDITOR`"+` names, or in vi.
- Ctrl-V Tab types a tab. Ctrl-Z suspends orepl.`, func() {
		w.expect("", "function greet(name) {", "  // with a brace {", "  return `hello", "  ${name}`", "}")
		w.expect(`'hello\n you'`, "greet(", "  'you'", ")")
		w.press("\x1b[A")
		w.edits("> greet(")
		w.press("\x1b[B\x1b[D\x1b[1;5C")
		w.press("r")
		w.edits("...   'your'")
		row := w.row()
		w.press("\r")
		w.prompted(row + 1)
		w.sees(row, `hello\n  your`)
	})
}

func (w *walk) awaits() {
	w.part("Await", `
Promises are awaited at the top level, and `+"`import`"+` works.`, func() {
		w.expect("'done'", "await new Promise(resolve => setTimeout(() => resolve('done'), 5))")
		w.expect("", "import { writeText } from 'fs'")
		w.expect("", "await writeText('./numbers.txt', '1 2 3');")
		w.expect("a b", "for (const p of [Promise.resolve('a'), Promise.resolve('b')]) {", "  console.log(await p)", "}")
	})
}

func (w *walk) devices() {
	w.part("Devices, buffers, kernels", `
The names of the module 'offload' are global. Printing a large buffer copies only some of its values. A buffer of two
dimensions is printed as a matrix, without its middle if it is large. A launch warns if a variable that its kernel captured has
changed since the kernel was compiled, or a field or element of a captured object.`, func() {
		w.expect("", "const dev = device('cpu')")
		w.expect("", "const x = dev.buffer(f32, 1000, i => Math.sqrt(i), { label: 'roots' })")
		w.expect("", "const y = dev.buffer(f32, 1000).fill(1)")
		w.expect("", "const saxpy = kernel((g, a, x, y) => {", "  y[g.x] = a * x[g.x] + y[g.x]", "})")
		w.expect("", "await saxpy.launch({ size: 1000 }, 2, x, y)")
		w.expect("Buffer f32[1000] on cpu { 1, 3, 3.82842", "y")
		w.expect("Float32Array(3) [ 0, 1, 1.41421", "await x.read(0, 3)")
		w.expect("Buffer f32[3×3] on cpu 1 0 0 0 1 0 0 0 1", "dev.buffer(f32, [3, 3], (i, j) => i === j ? 1 : 0)")
		w.expect("out-of-bounds", "await saxpy.launch({ size: 1001 }, 2, x, y)")
	})
	w.part("What is it?", `
`+"`?`"+` before a name or value describes it. `+"`??`"+` shows the source of a function or kernel, and the histogram of a buffer, from a
sample if the buffer is large. `+"`plot`"+` draws values as a curve, several buffers as named curves, and a matrix in shades.`, func() {
		w.expect("Kernel saxpy(a, x, y)", "?saxpy")
		w.expect("y[g.x] = a * x[g.x] + y[g.x]", "??saxpy")
		w.expect("return `hello", "??greet")
		w.expect("shape 1000 element f32, 4 bytes size 3.9 KiB", "?x")
		w.expect("1000 elements: min 0, mean 21.0", "??x")
		w.expect("┤", "plot(x, { height: 6 })") // what the fault left in y is unspecified
		w.expect("has no source", "??device")
	})
	w.part("What does it cost?", `
- `+"`.explain`"+` shows the types of a kernel and how it accesses memory.
- `+"`.live`"+` and `+"`.devices`"+` show what takes memory.
- `+"`.time`"+` measures code. The code is compiled once, and measured as `+"`bench`"+` does.`, func() {
		w.expect("saxpy(a: f32, x: f32[], y: f32[])", ".explain")
		w.expect("`x[g.x]` at 2:16: contiguous, checked", ".explain saxpy")
		w.expect("= fma %a.0, %2, %3", ".explain saxpy opt")
		w.expect(`buffer roots cpu 4000 repl-`, ".live")
		w.expect("cpu", ".devices")
		w.expect("took", ".time await saxpy.launch({ size: 1000 }, 2, x, y)")
		w.expect("20 times: median", ".time 20 saxpy.launch({ size: 1000 }, 2, x, y);")
	})
}

func (w *walk) helps() {
	w.part("Help", `
Every documented name has its signature, meaning and example. Other words are searched in the help, the codes of errors, the
recipes and the other pages, as in `+"`?prefix sum`"+`. The beginning of a word is sufficient.`, func() {
		w.expect("readText(path: string): Promise<string>", "?fs.readText")
		w.expect("barrier(): void", "?g.barrier")
		w.expect("checks?: 'on' | 'off' | 'races'", "?LaunchOptions.checks")
		w.expect("Kernel.launch", "?launch")
		w.expect(`did you mean "fs.readText"?`, "?fs.readTxet")
	})
}

func (w *walk) completions() {
	w.part("Completion", `
Tab completes a word; a second Tab lists all completions. Members of live values are found without calls of getters. The options
of a call and their values come from its documentation.`, func() {
		w.types("x.rea")
		w.user.completes("> x.read")
		row := w.row()
		w.press("\t")
		w.until("the list", func(s *screen) bool { return strings.Contains(s.text(row), "readSync") && s.row > row })
		w.edits("> x.read")
		w.giveUp()
		w.completes("await saxpy.la", "await saxpy.launch")
		w.completes("saxpy.launch(", "saxpy.launch({ size:")
		w.completes("saxpy.launch({ size: 1000, gro", "saxpy.launch({ size: 1000, group")
		w.completes("saxpy.launch({ size: 1000, checks: 'ra", "saxpy.launch({ size: 1000, checks: 'races")
		w.completes("dev.buffer(f32, 10, { lab", "dev.buffer(f32, 10, { label:")
		w.completes("saxpy.launch({ size: 1000 }, 2, ", "saxpy.launch({ size: 1000 }, 2, x")
		w.completes("device('c", "device('cpu")
		w.completes("device('cpu').crea", "device('cpu').createQueue")
		w.completes("devices()[0].queue.rec", "devices()[0].queue.record")
		w.completes("import { readT", "import { readText")
		w.completes("import { readText } from 'f", "import { readText } from 'fs")
		w.completes("await fs.readText('./nu", "await fs.readText('./numbers.txt")
		w.completes("squ", "squares")
		w.completes("squares.toSp", "squares.toSpliced")
		w.completes(".expl", ".explain")
		w.completes(".load ./num", ".load ./numbers.txt")
		w.expect("", "let ran = 0; const odd = { get getter() { ran++; return { deep: 1 } }, plain: { inner: 1 } }")
		w.completes("odd.plain.in", "odd.plain.inner")
		w.completes("odd.get", "odd.getter")
		w.types("odd.getter.de")
		w.press("\t")
		w.taken() // a Tab followed by further keys is part of a paste
		w.press("!")
		w.edits("> odd.getter.de!")
		w.giveUp()
		w.expect("0", "ran")
	})
}

func (w *walk) background() {
	w.part("Background", `
Timers and promises go on while a line is edited. Their output appears above the line, which keeps its text and the cursor. A
rejected promise without a handler is reported. So is a command of a device that fails while nothing waits for it.`, func() {
		w.expect("", "setTimeout(() => console.log('tick'), 4000);")
		row := w.row()
		w.types("[1, 3].length")
		w.press(strings.Repeat("\x1b[D", 8))
		w.until("tick", func(s *screen) bool { return s.line(row) == "tick" && unnumbered(s.line(s.row)) == "> [1, 3].length" })
		w.press(", 5")
		w.edits("> [1, 3, 5].length")
		w.press("\r")
		w.prompted(row + 1)
		w.sees(row, "\n3\n")
		w.enters("setTimeout(() => Promise.reject(new Error('nobody looks')), 1);")
		w.sees(row, "note: a promise was rejected with this error and nothing handled it")
		w.prompted(row)
	})
	row := w.row() // continuous output during editing must not lose keys
	w.enters("let ticks = 0; const clock = setInterval(() => console.log('t' + ++ticks), 20);")
	const typed = "'the quick brown fox jumps over the lazy dog'"
	for _, key := range typed {
		w.press(string(key))
		time.Sleep(7 * time.Millisecond)
	}
	w.edits("> " + typed)
	w.press("\r")
	w.sees(row, "\n"+typed+"\n")
	w.enters("clearInterval(clock)")
}

func (w *walk) stops() {
	w.part("Ctrl-C", `
Ctrl-C stops the running code, which may be a loop, a kernel or a wait, and drops the timers. The session stays usable. A long
native function of the interpreter, such as the sort of a huge array, or a vendor's driver may not stop; a second Ctrl-C then
leaves orepl. On an empty line, Ctrl-C ends the kernels that nothing waits for.`, func() {
		w.interrupts("while (true);")
		w.interrupts("await new Promise(() => setTimeout(() => {}, 1e6))")
		w.expect("", "const spin = kernel((g, z) => { while (z[0] < 1) z[0] = z[0] * 0.5 })")
		w.expect("", "const zero = dev.buffer(f32, 64)")
		w.interrupts("await spin.launch({ size: 64 }, zero)")
		w.interrupts("spin.launch({ size: 64 }, zero), zero.readSync()")
		w.expect("", "spin.launch({ size: 64 }, zero);") // the kernel runs in the background
		w.busy()
		row := w.row()
		w.press("\x03")
		w.prompted(row)
		w.sees(row, "kernel spin was running on cpu, launched here")
		w.expect("Buffer f32[64] on cpu { 0, 0, 0", "zero")
		w.expect("'interrupted'", "_error.code")
	})
	w.expect("", "setTimeout(() => { while (true); }, 20);") // a loop in the background
	w.busy()
	w.interrupts("'it goes on'")
}

func (w *walk) pastes() {
	w.part("Pasting", `
A paste of any size is one block, which can be changed before Enter runs it. If it is larger than the screen, the part around
the cursor is shown. Tabs are kept, and shown as two blanks. A terminal without bracketed paste sends a paste line by line,
which works, too.`, func() {
		row := w.row()
		w.press("\x1b[200~function area(w, h) {\r\n\treturn w *\r\n\t\th\r\n}\r\narea(6, 7)\r\n\x1b[201~")
		w.edits("... area(6, 7)")
		w.press("\r")
		w.prompted(row)
		w.sees(row, "\n42\n")
		row = w.row()
		w.press("for (const i of [1, 2]) {\r\tconsole.log(JSON.stringify(`line\t${i}\r\tends`))\r}\r'pasted'\r")
		w.sees(row, "\n'pasted'\n")
		w.prompted(row)
		w.sees(row, `"line\t2\n\tends"`)
	})
}

func (w *walk) history() {
	w.part("History", `
The newest 1000 entered blocks are kept for the next session, in `+"`~/.orepl_history`"+` or the file that `+"`OREPL_HISTORY`"+` names.
They are not kept if the variable is empty. Up and Down go through the blocks that begin like the current line. Ctrl-R searches
the history for the text that is typed next:

- Ctrl-R again finds an older block, and Backspace shortens the text.
- Enter runs the block that was found.
- Ctrl-G, Ctrl-C or Escape ends the search without a result.
- Any other key that is no text edits the block that was found.`, func() {
		w.press("\x12")
		w.edits("(search) :")
		w.press("a[g.x]")
		w.press("\x7f\x7f\x7f\x7f\x7f\x7fx[g")
		w.until("the kernel", func(s *screen) bool { return strings.Contains(s.line(s.row), "const saxpy = kernel(") })
		w.press("\x07")
		w.edits(">")
		w.press("\x12reduce")
		w.until("the line", func(s *screen) bool { return strings.HasPrefix(s.line(s.row), "(search) reduce: { total") })
		w.press("\x05")
		w.edits("> { total: squares.reduce((a, b) => a + b), of: squares }")
		w.giveUp()
		w.press("gree\x1b[A")
		w.until("the block", func(s *screen) bool { return unnumbered(s.text(s.row)) == "> greet(\n...   'your'\n... )" })
		w.press("\x1b[A")
		w.until("the block before", func(s *screen) bool { return unnumbered(s.text(s.row)) == "> greet(\n...   'you'\n... )" })
		w.giveUp()
	})
}

func (w *walk) commands() {
	w.part("Commands", `
A line that begins with a dot is a command of the prompt. `+"`.save`"+` writes a script with a separator between two blocks, so that
`+"`.load`"+` evaluates them one by one. `+"`.load`"+` of another file evaluates it as if it had been typed; its exports become global, too.`, func() {
		w.expect(".save", ".help")
		w.expect("saved", ".save session.js")
		w.expect(".save -f session.js replaces it", ".save session.js")
		w.expect("saved", ".save -f session.js")
		w.expect("", "await writeText('./later.js', 'const loaded = 6 * 7\\nconst twice = loaded * 2');")
		w.expect("", ".load later.js")
		w.expect("84", "twice")
	})
	saved, err := os.ReadFile(filepath.Join(w.dir, "session.js"))
	if err != nil || !strings.Contains(string(saved), "\n1 + 1\n;// --\nconst squares") || strings.Contains(string(saved), "missing()") {
		w.t.Errorf("the saved session is\n%s%v", saved, err)
	}
	w.part("Wrong commands", `
An error says what to write instead.`, func() {
		w.expect("there is no command .lode", ".lode x.js")
		w.expect("did you mean .load?", ".help laod")
		w.expect(".load needs a file", ".load")
		w.expect("cannot load nowhere.js: no such file or directory", ".load nowhere.js")
		w.expect(".save needs a file", ".save")
		w.expect("cannot save no/where.js: no such file or directory", ".save no/where.js")
		w.expect(".time needs code", ".time")
		w.expect("cannot evaluate 0 times", ".time 0 1 + 1")
		w.expect("ReferenceError: what is not defined", ".time what")
		w.expect("no kernel saxpi was compiled", ".explain saxpi")
		w.expect("is no form of a kernel", ".explain saxpy cobol")
		w.expect(".devices takes no arguments", ".devices cpu")
		w.expect(".live takes no arguments", ".live 1")
		w.expect(".clear takes no arguments", ".clear now")
		w.expect(".exit takes no arguments", ".exit 1")
		w.expect("there is no nothing", "??nothing")
		w.expect("there is no help about", "?saxpi")
		w.expect("strided-access, a warning in kernels", "?strided-access")
		w.expect("0.5", ".5")
	})
}

func (w *walk) ends() {
	w.part("Leaving", `
`+"`.clear`"+` begins a new session. `+"`.exit`"+` and Ctrl-D leave orepl, and `+"`process.exit(n)`"+` leaves it with the exit code n.`, func() {
		w.expect("a new session", ".clear")
		w.expect("ReferenceError: squares is not defined", "squares")
		w.types(".exit")
		w.press("\r")
		if code := w.leaves(); code != 0 {
			w.t.Errorf("exit code %d", code)
		}
	})
}

// varying has the patterns of text that differs between machines and runs, with their replacements in the documentation.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[\d.]+ (ns|µs|ms|s)\b`), "1.2 ms"},
	{regexp.MustCompile(`(?m)^This does not stop: .*\n`), ""}, // appears on a very busy machine
	{regexp.MustCompile(`(?m)^(  device +cpu, ).*$`), "${1}AMD EPYC 7763"},
	{regexp.MustCompile(`(?s)\nID  .*?\n(\d+> )`), "\nID   TYPE  UNITS  MEMORY    IN USE   NAME\ncpu  cpu   64     251.4 GiB  8.1 KiB  AMD EPYC 7763\n$1"},
}

// compare compares the record with the documentation.
func (w *walk) compare(documented bool) {
	if !documented || w.t.Failed() {
		return
	}
	text := w.doc.String()
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	file := filepath.FromSlash(golden)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if text == string(want) {
		return
	}
	got, page := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	i := 0
	for i < min(len(got), len(page)) && got[i] == page[i] {
		i++
	}
	part := func(lines []string) string { return strings.Join(lines[min(i, len(lines)):min(i+8, len(lines))], "\n") }
	w.t.Errorf("docs/repl.md differs from the session at line %d; go test -update writes it anew. The session:\n%s\nThe page:\n%s", i+1, part(got), part(page))
}
