package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const text = "const a = 1\nconst b = 2\n\tlet ü = a.b.c\nlast"

func TestFormat(t *testing.T) {
	pos := Position{File: "a.js", Line: 3, Column: 12}
	d := &Diagnostic{
		ID: "exception", Name: "TypeError", Message: "a.b is undefined", Hint: "give a a b",
		Position: pos, Excerpt: Excerpted(text, pos, 3),
		Stack: []Frame{{"f", pos}, {"", Position{"b.js", 9, 1}}},
		Notes: []Note{{Message: "a is made here", Position: Position{"a.js", 1, 7}}},
	}
	want := `error: TypeError: a.b is undefined
  --> a.js:3:12
  1 | const a = 1
  2 | const b = 2
  3 | 	let ü = a.b.c
    | 	          ^^^
note: a is made here
  --> a.js:1:7
hint: give a a b
    at f (a.js:3:12)
    at b.js:9:1
`
	if got := Format(d, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Format(d, true); !strings.Contains(got, "\x1b[1;31m^^^\x1b[0m") {
		t.Errorf("no colours: %q", got)
	}
	if got := d.Error(); got != "a.js:3:12: TypeError: a.b is undefined" {
		t.Error(got)
	}
}

// TestMarkers checks that the marker is below its text for any preceding text, and that long lines are cut around it.
func TestMarkers(t *testing.T) {
	for _, c := range []struct{ line, marked, want string }{
		{"let x = a.b", "a.b", "let x = a.b\n        ^^^"},
		{"\tlet\tx = bad", "bad", "\tlet\tx = bad\n\t   \t    ^^^"},
		{"s = '日本' + bad", "bad", "s = '日本' + bad\n             ^^^"},
		{"x = '😀é' + 日本", "日本", "x = '😀é' + 日本\n            ^^^^"},
		{"a = '\x1b[2J\u202e\x07' + bad", "bad", "a = '�[2J��' + bad\n               ^^^"},
		{"bad = " + strings.Repeat("x", 100), "bad", "bad = " + strings.Repeat("x", 25) + "…\n^^^"},
		{strings.Repeat("x", 50) + "bad" + strings.Repeat("y", 50), "bad", "…" + strings.Repeat("x", 16) + "bad" + strings.Repeat("y", 13) + "…\n" + strings.Repeat(" ", 17) + "^^^"},
		{strings.Repeat("日", 50) + "bad", "bad", "…" + strings.Repeat("日", 14) + "bad\n" + strings.Repeat(" ", 29) + "^^^"},
	} {
		at := strings.Index(c.line, c.marked)
		pos := Position{Line: 1, Column: 1 + len([]rune(c.line[:at]))}
		d := &Diagnostic{Message: "m", Position: pos, Excerpt: Excerpted(c.line, pos, len([]rune(c.marked)))}
		_, got, _ := strings.Cut(FormatFor(d, false, 40), "  1 | ")
		got = strings.TrimSuffix(strings.Replace(got, "    | ", "", 1), "\n")
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestNarrowFrames checks that an excerpt is no wider than a narrow terminal.
func TestNarrowFrames(t *testing.T) {
	line := "const total = first + second + bad + third"
	pos := Position{Line: 1, Column: 1 + strings.Index(line, "bad")}
	d := &Diagnostic{Message: "m", Position: pos, Excerpt: Excerpted(line, pos, 3)}
	for _, columns := range []int{18, 22, 30} {
		_, frame, _ := strings.Cut(FormatFor(d, false, columns), "  1 | ")
		text, marker, _ := strings.Cut(frame, "\n    | ")
		marker = strings.TrimRight(marker, "\n")
		if n := 6 + len([]rune(text)); n > columns {
			t.Errorf("%d columns in a terminal of %d: %s", n, columns, text)
		}
		at := strings.Index(marker, "^")
		if got := string([]rune(text)[at : at+3]); got != "bad" {
			t.Errorf("%d columns: the marker is below %q in %q", columns, got, text)
		}
	}
}

func TestExcerptedOutsideText(t *testing.T) {
	for _, p := range []Position{{}, {Line: 9, Column: 1}} {
		if Excerpted(text, p, 1) != nil {
			t.Errorf("%v gave an excerpt", p)
		}
	}
}

func TestPositions(t *testing.T) {
	off := strings.Index(text, "= a.b")
	p := PositionAt("f", text, off)
	if p != (Position{"f", 3, 8}) {
		t.Errorf("got %v", p)
	}
	if got := InCharacters(text, Position{"f", 3, 9}); got != p {
		t.Errorf("got %v", got)
	}
	if got := InCharacters(text, Position{"f", 3, 999}); got.Column != 15 {
		t.Errorf("got %v", got)
	}
}

type coded struct{}

func (coded) Error() string { return "coded" }
func (coded) Code() string  { return "not-found" }
func (coded) Hint() string  { return "look elsewhere" }
func (coded) Label() string { return "weights" }

func TestFactsBehindWrapping(t *testing.T) {
	err := fmt.Errorf("outer: %w", coded{})
	if Code(err) != "not-found" || Hint(err) != "look elsewhere" || Label(err) != "weights" {
		t.Error("facts lost")
	}
	plain := errors.New("plain")
	if Code(plain)+Hint(plain)+Label(plain) != "" {
		t.Error("facts invented")
	}
	want := "error: outer: coded [not-found]\nhint: look elsewhere\n"
	if got := Format(err, false); got != want {
		t.Errorf("got %q", got)
	}
	inner := &Diagnostic{Message: "inner"}
	if !errors.Is(&Diagnostic{Message: "outer", Cause: inner}, inner) {
		t.Error("cause lost")
	}
}

func TestFormatOfNoError(t *testing.T) {
	var b strings.Builder
	Print(&b, nil, true)
	if got := b.String() + Format(nil, false) + FormatFor(nil, true, 80); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestSort checks the order of diagnostics of several files that come in turns.
func TestSort(t *testing.T) {
	at := func(file string, line int) *Diagnostic {
		return &Diagnostic{Message: "m", Position: Position{File: file, Line: line}}
	}
	var got []string
	for _, d := range (List{at("b", 3), at("a", 2), at("b", 1), at("a", 1), at("b", 3)}).Sort() {
		got = append(got, fmt.Sprint(d.File, d.Line))
	}
	if want := []string{"b1", "b3", "a1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestLineEnds checks positions and excerpts behind each line end of ECMAScript.
func TestLineEnds(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r", "\u2028", "\u2029"} {
		text := "ab" + end + end + "é = x"
		p := PositionAt("f", text, strings.Index(text, "x"))
		if p != (Position{"f", 3, 5}) {
			t.Errorf("%q: x is at %v", end, p)
		}
		if got := Excerpted(text, p, 1); got == nil || !slices.Equal(got.Lines, []string{"ab", "", "é = x"}) {
			t.Errorf("%q: the excerpt is %+v", end, got)
		}
		for offset, want := range map[int]Position{0: {"f", 1, 1}, 2: {"f", 1, 3}, 2 + len(end): {"f", 2, 1}, 2 + 2*len(end): {"f", 3, 1}} {
			if got := PositionAt("f", text, offset); got != want {
				t.Errorf("%q: offset %d is at %v, want %v", end, offset, got, want)
			}
		}
	}
	if got := PositionAt("f", "a\r\nb", 2); got != (Position{"f", 1, 3}) {
		t.Errorf("within a line end: %v", got)
	}
}
