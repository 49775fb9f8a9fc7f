package editor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/peterh/liner"
)

// keys gives what liner gets when a terminal sends chunks.
func keys(chunks ...string) string {
	k := newKeyboard(nil, nil)
	for _, c := range chunks {
		k.waiting = append(k.waiting, []byte(c))
		k.translate()
	}
	return string(k.ready)
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"plain", []string{"a", "b\r"}, "ab\r"},
		{"tabs", []string{"a\t", "\t\t"}, "a\t\t\t"},
		{"a tab within a burst", []string{"\ta\tb\r"}, "  a  b\r"},
		{"paste", []string{"x\x1b[200~a\r\n\tb\n\x1b[201~y"}, "xa↵  by"},
		{"paste in pieces", []string{"\x1b[2", "00~a", "\nb\x1b[20", "1~c"}, "a↵bc"},
		{"control characters in a paste", []string{"\x1b[200~a\x03\x1b[Ab\x12\x1b[201~"}, "a[Ab"},
		{"two pastes", []string{"\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~"}, "ab"},
		{"keys that look alike", []string{"\x1b[2~", "\x1b", "\x1b[A"}, "\x1b[2~\x1b\x1b[A"},
		{"the editor's marks", []string{"a\ue000b\ue001"}, "ab"},
		{"search holds", []string{"a\x12bc", "d"}, "a" + searchKeys},
	} {
		if got := keys(c.chunks...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := keys("\x1b[200~" + strings.Repeat("line\n", 2000) + "\x1b[201~"); strings.Count(got, "\r") != 1999 || strings.Contains(got, LineEnd) {
		t.Error("a paste larger than the screen is not taken line by line")
	}
}

func TestHeldKeysComeBehind(t *testing.T) {
	k := newKeyboard(nil, nil)
	if !k.take() || k.take() {
		t.Fatal("a held keyboard was taken again")
	}
	for _, c := range []string{"x", "y\r"} {
		k.waiting = append(k.waiting, []byte(c))
		k.translate()
	}
	k.release("\x02")
	if got, want := string(k.ready), takeKeys+"\x02xy\r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarks(t *testing.T) {
	for line, want := range map[string][2]string{"ab": {"ab", ""}, "a\ue000b": {"a", "b"}, "\ue001": {"", ""}} {
		kind, before, after := cutMark(line)
		if before != want[0] || after != want[1] || (kind == noMark) != (line == "ab") {
			t.Errorf("%q: %x %q %q", line, kind, before, after)
		}
	}
	if leftKeys("ae\u0301日") != "\x02\x02\x02" { // a, é of two, 日
		t.Errorf("got %q", leftKeys("ae\u0301日"))
	}
}

func TestHistoryFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	for _, block := range []string{"a", "a", "f(\n\tb\n)\n"} {
		h.add(encode(block))
	}
	want := "a\nf(↵  b↵)\n"
	if data, _ := os.ReadFile(file); string(data) != want {
		t.Errorf("the file is %q", data)
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

func FuzzKeys(f *testing.F) {
	f.Add("a\x1b[200~b\x1b[201~\x12c", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		got := keys(text[:cut], text[cut:])
		if strings.ContainsRune(strings.ReplaceAll(got, searchKeys, ""), takeMark) {
			t.Errorf("a mark got through: %q", got)
		}
	})
}
