//go:build linux

package repl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTextIsKept checks that typed or pasted text runs unchanged, including tabs and the character ↵.
func TestTextIsKept(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	for _, c := range []struct{ keys, want string }{
		{"\x1b[200~'a\tb'.length\x1b[201~", "3"},
		{"\x1b[200~`one\n\ttwo\n`\x1b[201~", `'one\n\ttwo\n'`},
		{"\x1b[200~'x↵y'.length\x1b[201~", "3"},
		{"'x↵y'", "'x↵y'"},
		{"'a\tb'.length", "3"},
		{"'a👍🏽'\x1b[D\x7f\x05.length", "1"},
	} {
		row := u.row()
		u.press(c.keys)
		u.taken() // otherwise Enter would be part of the burst
		u.press("\r")
		u.prompted(row)
		if got := unnumbered(u.all(row)); !strings.HasSuffix(got, "\n"+c.want+"\n>") {
			t.Errorf("%q printed\n%s\nwant %s", c.keys, got, c.want)
		}
	}
	u.press("\x1b[A\x1b[A")
	u.edits("> 'a  b'.length")
	row := u.row()
	u.press("\x1b[A")
	u.edits("> 'x↵y'")
	u.press("\r")
	u.prompted(row)
	u.sees(row, "> 'x↵y'\n'x↵y'\n>")
}

// TestBlocksAreEdited edits a block of several lines, and scrolls one that is larger than the screen.
func TestBlocksAreEdited(t *testing.T) {
	u := sit(t, 40, 10)
	u.prompted(0)
	row := u.row()
	u.press("\x1b[200~function f(a) {\n\treturn a +\n\t\t1\n}\x1b[201~")
	u.edits("... }")
	u.press("\x1b[A\x1b[A\x1b[F\x7f-")
	u.edits("...   return a -")
	u.press("\r")
	u.prompted(row)
	if got := u.enters("f(3)"); got != "2" {
		t.Errorf("f(3) is %s", got)
	}
	u.press("1\x1b\r2")
	u.edits("... 2")
	u.press("\x1f\x1f")
	u.edits("> 1")
	u.press("\x1b_\x1b_")
	u.edits("... 2")
	u.giveUp()

	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("var v%d = %d", i, i))
	}
	row = u.row()
	u.press("\x1b[200~" + strings.Join(lines, "\n") + "\x1b[201~")
	u.edits("... var v199 = 199")
	u.mu.Lock()
	if n := len(u.screen.lines) - row; n > 10 {
		t.Errorf("a long block took %d rows of a screen of 10", n)
	}
	u.mu.Unlock()
	u.press(strings.Repeat("\x1b[A", 199) + "\x1b[F0")
	u.edits("> var v0 = 00")
	u.press("\r")
	u.prompted(row)
	if got := u.enters("v0 + v199"); got != "199" {
		t.Errorf("the block gave %s", got)
	}
}

// TestLargePaste checks that a paste of 97 KB is one block, with and without bracketed paste.
func TestLargePaste(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	block := "{\n" + strings.Repeat("  count = count + 1 // and a comment\n", 3000) + "}"
	u.enters("let count = 0")
	for i, keys := range []string{"\x1b[200~" + block + "\x1b[201~", strings.ReplaceAll(block, "\n", "\r")} {
		began := time.Now()
		go func() { _, _ = u.keys.WriteString(keys) }()
		u.edits("... }")
		u.press("\r")
		want := fmt.Sprint(3000 * (i + 1))
		if got := u.enters("count"); got != want {
			t.Errorf("count is %s, not %s", got, want)
		}
		t.Logf("%d bytes took %v", len(keys), time.Since(began))
	}
}

// TestExternalEditor edits the block in a program with Ctrl-X Ctrl-E.
func TestExternalEditor(t *testing.T) {
	u := sit(t, 80, 24, "EDITOR=sed -i s/one/two/g")
	u.prompted(0)
	u.types("'one' +")
	u.press("\r")
	u.edits("...")
	u.press("'one'\x18\x05")
	u.edits("... 'two'")
	row := u.row()
	u.press("\r")
	u.prompted(row)
	u.sees(0, "> 'two' +\n... 'two'\n'twotwo'\n>")
	u = sit(t, 80, 24, "VISUAL=false")
	u.prompted(0)
	u.press("half\x18\x05")
	u.sees(0, "the editor failed: exit status 1; VISUAL or EDITOR names the one to use")
	u.edits("> half")
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "orepl-*.js"))
	if len(left) > 0 {
		t.Logf("left: %v", left) // possibly files of other processes
	}
}

// TestSuspend checks that Ctrl-Z returns the terminal to the shell, and that fg resumes the block.
func TestSuspend(t *testing.T) {
	u := sitIn(t, []string{"bash", "--norc", "--noprofile", "-i"}, 80, 24, "PS1=shell: ")
	u.sees(0, "shell:")
	u.press(os.Args[0] + "\r")
	u.sees(0, "Tab completes")
	u.prompted(1)
	u.types("6 * ")
	u.press("\x1a")
	u.sees(0, "Stopped")
	u.until("the shell", func(s *screen) bool { return strings.HasPrefix(s.line(s.row), "shell:") })
	u.press("fg\r")
	u.edits("> 6 *")
	row := u.row()
	u.press("7\r")
	u.prompted(row)
	u.sees(row, "> 6 * 7\n42\n")
	u.press("\x04")
	u.until("the shell", func(s *screen) bool { return strings.HasPrefix(s.line(s.row), "shell:") })
}

// TestResize checks that the block is redrawn after a change of the screen's size.
func TestResize(t *testing.T) {
	u := sit(t, 80, 24)
	u.prompted(0)
	u.types("'0123456789012345678901234567890123456789'")
	u.resize(22, 10)
	u.press("0")
	u.until("narrow rows", func(s *screen) bool {
		return strings.HasSuffix(s.text(0), "comple\ntes, Ctrl-D leaves\n1> '012345678901234567\n8901234567890123456789\n'0")
	})
	u.resize(80, 24)
	u.press("1")
	u.until("wide rows", func(s *screen) bool {
		return s.text(0) == "orepl: .help explains the prompt, Tab completes, Ctrl-D leaves\n1> '0123456789012345678901234567890123456789'01"
	})
}
