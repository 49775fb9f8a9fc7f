package editor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/peterh/liner"

	"github.com/orepl/orepl/runtime/stopwatch"
)

// typist returns an editor without a terminal.
func typist(entries ...string) *Editor {
	whole := func(s string) bool { return !new(brackets).goOn(s) }
	null, _ := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	return &Editor{buffer: newBuffer(), history: &history{entries: entries}, isWhole: whole, out: null, width: 80}
}

// press handles keys as a terminal sends them, chunk by chunk. It returns the text with | at the cursor.
func (e *Editor) press(chunks ...string) string {
	for _, chunk := range chunks {
		e.keys = append(e.keys, e.decoder.feed([]byte(chunk))...)
		for len(e.keys) > 0 {
			k := e.keys[0]
			e.keys = e.keys[1:]
			if end, _ := e.handle(k); end {
				return "entered " + e.text
			}
		}
	}
	return e.text[:e.at] + "|" + e.text[e.at:]
}

func each(keys string) []string { return strings.Split(keys, "") }

const (
	upKey, downKey, rightKey, leftKey = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	undoKey                           = "\x1f"
)

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want string
	}{
		{"a tab in a paste is kept", []string{"\x1b[200~'a\tb'\x1b[201~"}, "'a\tb'|"},
		{"a tab in a burst is kept", []string{"'a\tb'"}, "'a\tb'|"},
		{"a tab behind Ctrl-V", []string{"'", "\x16", "\t", "'"}, "'\t'|"},
		{"Tab at the beginning of a line indents", []string{"{", "\r", "\t", "a"}, "{\n  a|"},
		{"the sign of line ends is a character", []string{"'x↵y'"}, "'x↵y'|"},
		{"enter in an open block", []string{"(", "\r", "1", "\r", ")", "\r"}, "entered (\n1\n)"},
		{"enter inside of a whole block", []string{"ab", leftKey, "\r"}, "entered ab"},
		{"Alt-Enter", []string{"a", "\x1b\r", "b"}, "a\nb|"},
		{"Shift-Enter", []string{"a", "\x1b[13;2u", "b"}, "a\nb|"},
		{"Backspace takes what is seen", []string{"a👍🏽", "\x7f"}, "a|"},
		{"a family is one character", []string{"x👨‍👩‍👧y", leftKey, leftKey}, "x|👨‍👩‍👧y"},
		{"a combining mark belongs to its letter", []string{"ae\u0301", leftKey}, "a|e\u0301"},
		{"Delete takes a flag", []string{"🇩🇪🇫🇷", "\x01", "\x1b[3~"}, "|🇫🇷"},
		{"arrows within a block", []string{"abc\x1b\rde\x1b\rfghi", upKey, upKey, "!", downKey, downKey, "?"}, "abc!\nde\nfghi?|"},
		{"Home and End are of the line", []string{"ab\x1b\rcd", "\x01", "x", upKey, "\x05", "y"}, "aby|\nxcd"},
		{"Ctrl-K takes the rest of a line, then its end", []string{"ab\x1b\rcd", upKey, "\x01", "\x0b", "\x0b"}, "|cd"},
		{"Ctrl-Y brings both back", []string{"ab\x1b\rcd", upKey, "\x01", "\x0b", "\x0b", "\x05", "\x19"}, "cdab\n|"},
		{"Alt-Y brings the one before", []string{"one", "\x15", "two", "\x15", "\x19", "\x1by"}, "one|"},
		{"Alt-Y again brings the one before that", []string{"one", "\x15", "two", "\x15", "three", "\x15", "\x19", "\x1by", "\x1by"}, "one|"},
		{"Ctrl-Y begins with the last one again", []string{"one", "\x15", "two", "\x15", "\x19", "\x1by", " ", "\x19"}, "one two|"},
		{"words", []string{"foo.bar baz", "\x1bb", "\x1bb", "\x1bd"}, "foo.| baz"},
		{"Ctrl-W takes up to a blank", []string{"a foo.bar", "\x17"}, "a |"},
		{"Ctrl-T", []string{"ab", "\x14"}, "ba|"},
		{"Ctrl-T with one character", []string{"a", "\x14"}, "a|"},
		{"undo goes by words", append(each("let x"), undoKey), "let|"},
		{"undo of a paste", []string{"a", "\x1b[200~b\nc\x1b[201~", undoKey}, "a|"},
		{"undo and redo", append(each("ab c"), undoKey, undoKey, "\x1b_"), "ab|"},
		{"Ctrl-C", []string{"a", "\x03"}, "entered a"},
		{"Ctrl-D deletes", []string{"ab", "\x01", "\x04"}, "|b"},
	} {
		if got := typist().press(c.keys...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBrowsing(t *testing.T) {
	e := typist("first", "let a", "f(\n1\n)", "let b", "let b")
	for _, c := range []struct{ key, want string }{
		{upKey, "let b|"},
		{upKey, "f(|\n1\n)"},
		{downKey, "f(\n1|\n)"},
		{downKey, "f(\n1\n)|"},
		{downKey, "let b|"},
		{downKey, "|"},
		{"let ", "let |"},
		{upKey, "let b|"},
		{upKey, "let a|"},
		{upKey, "let a|"},
		{downKey, "let b|"},
		{downKey, "let |"},
		{"\x12", "let |"},
		{"irs", "let |"},
		{"\x05", "first|"},
		{"\x12zzz\x07", "first|"},
		{"\x12let\x12\r", "entered let b"},
	} {
		if got := e.press(c.key); got != c.want {
			t.Errorf("%q: got %q, want %q", c.key, got, c.want)
		}
	}
}

func TestTab(t *testing.T) {
	e := typist()
	e.complete = func(text string, at int) (int, []string) {
		start := strings.LastIndexAny(text[:at], " .") + 1
		var words []string
		for _, w := range []string{"read", "readRect", "write"} {
			if strings.HasPrefix(w, text[start:at]) {
				words = append(words, w)
			}
		}
		return start, words
	}
	for _, c := range []struct{ key, want string }{
		{"é w", "é w|"}, {"\t", "é write|"}, {" r", "é write r|"}, {"\t", "é write read|"}, {"\t", "é write read|"}, {"R", "é write readR|"}, {"\t", "é write readRect|"},
		{" z", "é write readRect z|"}, {"\t", "é write readRect z|"},
	} {
		if got := e.press(c.key); got != c.want {
			t.Errorf("%q: got %q, want %q", c.key, got, c.want)
		}
	}
	if got, want := table([]string{"a", "bb", "ccc", "d", "e"}, 11, 10), "a    d\nbb   e\nccc\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := table([]string{"a", "b", "c", "d"}, 6, 1), "a  b\n… and 2 more\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestDraw checks that drawn rows fit the screen and have the cursor at its position.
func TestDraw(t *testing.T) {
	rows := layout("abcd\tf\n日本語x", "> ", "... ", 8)
	var got []string
	for _, r := range rows {
		got = append(got, r.prompt+"|"+"abcd\tf\n日本語x"[r.from:r.to])
	}
	if want := "> |abcd\t; |f; ... |日本; |語x"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
	if rows := layout("abcdef", "> ", "", 8); len(rows) != 2 { // the cursor needs another row
		t.Errorf("%d rows", len(rows))
	}
	long := strings.Repeat("line\n", 3000)
	out, p := draw(picture{}, long, len(long), "> ", "... ", 80, 24, painter{})
	if n := strings.Count(out, "\n"); n > 23 || p.cursor >= 24 || p.top != 3001-23 {
		t.Errorf("%d rows are drawn, the cursor is in row %d, from %d", n, p.cursor, p.top)
	}
	_, p = draw(p, long, 0, "> ", "... ", 80, 24, painter{})
	if p.top != 0 || p.cursor != 0 {
		t.Errorf("the beginning is shown from row %d", p.top)
	}
	out, _ = draw(picture{}, "const s = 'a\tb' // n", 0, "", "", 80, 24, painter{true})
	if want := wordColor + "const" + noColor + " s = " + textColor + "'a  b'" + noColor + " " + commentColor + "// n" + noColor; !strings.Contains(out, want) {
		t.Errorf("%q has not %q", out, want)
	}
}

// TestLargePastes checks that the time of large pastes is linear in their size.
func TestLargePastes(t *testing.T) {
	block := "{\n" + strings.Repeat("  const someName = 'some text' // 31\n", 3000) + "}"
	for name, text := range map[string]string{
		"bracketed": "\x1b[200~" + block + "\x1b[201~\r",
		"plain":     strings.ReplaceAll(block, "\n", "\r") + "\r",
	} {
		e := typist()
		began := stopwatch.Start()
		var got string
		for len(text) > 0 {
			n := min(len(text), 4096)
			got = e.press(text[:n])
			text = text[n:]
		}
		if got != "entered "+block {
			t.Errorf("%s: %d bytes became %d", name, len(block), len(got))
		}
		if took := began.Elapsed(); took > 15*time.Second { // quadratic time would be 17 s on an idle machine
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s took %v", name, took)
		}
	}
}

func TestHistoryFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	blocks := []string{"a", "f(\n\tb\n)", "'↵␛'", "`\n\n`"}
	for _, block := range blocks {
		h.add(block)
		h.add(block)
	}
	want := "a\nf(↵\tb↵)\n'␛↵␛␛'\n`↵↵`\n"
	if data, _ := os.ReadFile(file); string(data) != want {
		t.Errorf("the file is %q", data)
	}
	if got := openHistory(file).entries; strings.Join(got, "|") != strings.Join(blocks, "|") {
		t.Errorf("read again, it is %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the history: %v %v", info.Mode(), err)
	}
	text := strings.Repeat("\xff\n", 3) + strings.Repeat("x\n", liner.HistoryLimit) + "last\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h = openHistory(file)
	if len(h.entries) != liner.HistoryLimit || h.entries[len(h.entries)-1] != "last" {
		t.Errorf("%d entries", len(h.entries))
	}
	if data, _ := os.ReadFile(file); len(data) != 2*(liner.HistoryLimit-1)+5 {
		t.Errorf("the file was not shortened: %d bytes", len(data))
	}
}

// FuzzEditing checks that no keys corrupt the text or the cursor, and that undo restores the empty block.
func FuzzEditing(f *testing.F) {
	f.Add("ab\x1b[D\x7f\x1f\x19\x1b[200~é\n👍🏽\x1b[201~\x1b[A\x14\x0b\x1by", uint8(9))
	f.Fuzz(func(t *testing.T, keys string, width uint8) {
		if strings.ContainsAny(keys, "\x18\x1a") { // keys that start an editor or suspend
			t.Skip()
		}
		e := typist("x", "y\nz")
		for _, k := range e.decoder.feed([]byte(keys)) {
			if end, _ := e.handle(k); end {
				return
			}
			if !utf8.ValidString(e.text) || e.at < 0 || e.at > len(e.text) || !utf8.ValidString(e.text[:e.at]) {
				t.Fatalf("%q, cursor %d", e.text, e.at)
			}
			draw(picture{}, e.text, e.at, "> ", "... ", int(width)+4, 5, painter{true})
		}
		for range mostUndo + 1 {
			e.undo()
		}
		if len(e.done) == 0 && len(e.undone) < mostUndo && e.text != "" {
			t.Errorf("undone, %q is left", e.text)
		}
	})
}
