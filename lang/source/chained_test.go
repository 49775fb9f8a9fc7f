package source

import (
	"strings"
	"testing"
)

// TestChained checks calls, marked with @, whose value only the next method sees.
func TestChained(t *testing.T) {
	for text, want := range map[string]string{
		"x.map@(v => v * 2).sum()": "sum",
		"const s = await x.map@(v => {\n  return v / 2 // ) half\n})\n  .sum({ axis: -1, keepDims: true })": "sum",
		"x.map@(v => Math.sin(v)).map(v => v + 1).max()":                                                    "map",
		"x.zip@(w, (a, b) => a * b).sum(0)":                                                                 "sum",
		"x.map@(f).zip(w.rows[0], 3, (a, b) => g(a) + b)":                                                   "zip",
		"x.map@(v => ')' === \"(\" ? 1 : v / 2 / v).min()":                                                  "min",
		"x.map@(v => v /* ) */ + 1) . sum ( )":                                                              "sum",
		"x.map@(f)":                                                                                         "",
		"x.map@(f); x.sum()":                                                                                "",
		"(x.map@(f)).sum()":                                                                                 "",
		"x.map@(f)?.sum()":                                                                                  "",
		"x.map@(f).shape":                                                                                   "",
		"x.map@(f)[name]()":                                                                                 "",
		"x.map@(f).sum(x.fill(0))":                                                                          "",
		"x.map@(f).sum({ axis: next() })":                                                                   "",
		"x.map@(f).zip(x.fill(0), g)":                                                                       "",
		"x.map@(f).zip(y = x, g)":                                                                           "",
		"x.map@(f).map(`${x.fill(0)}`)":                                                                     "",
		"x.map@(v => /\\)/ && v).sum()":                                                                     "",
		"x.map@(v => `)` && v).sum()":                                                                       "",
		"x.map@(f).sum(":                                                                                    "",
		"x.map@(v => (v]).sum()":                                                                            "",
		"x.map@(v => v / 'a\n').sum()":                                                                      "",
		"x.map@(f).sum(new Axis)":                                                                           "",
		"x.map@(f).sum(await axis)":                                                                         "",
		"x.map@(f).sum(i++)":                                                                                "",
		"x.map@(f).sum(function () { })":                                                                    "",
	} {
		before, _, _ := strings.Cut(text, "@")
		line := 1 + strings.Count(before, "\n")
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		if got := Chained(strings.Replace(text, "@", "", 1), line, column); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
