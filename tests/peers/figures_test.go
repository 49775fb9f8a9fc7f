package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// figures is the page of figures, whose tables are written from the files in results.
const figures = "../../BENCHMARKS.md"

// mostText is the maximum number of lines of the page besides its tables.
const mostText = 150

// result is a file of results: lines "# KEY: VALUE", a line of column names, and rows, whose fields are separated by tabs.
type result struct {
	header map[string]string // by key; notes are joined
	rows   [][]string        // the first one has the column names
}

// parseResult parses a file of results. It returns an error for one without its machine, date, command or load, for dates that are
// none, and for rows of another length.
func parseResult(text string) (r result, err error) {
	r.header = map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "# "); ok {
			key, value, ok := strings.Cut(head, ": ")
			if !ok || value == "" {
				return r, fmt.Errorf("the line %q has no value", line)
			}
			if old := r.header[key]; old != "" {
				value = old + " " + value
			}
			r.header[key] = value
			continue
		}
		r.rows = append(r.rows, strings.Split(line, "\t"))
	}
	for _, key := range []string{"title", "machine", "date", "command", "load"} {
		if r.header[key] == "" {
			return r, fmt.Errorf("the %s is missing", key)
		}
	}
	if len(r.header["date"]) != len("2026-11-21") {
		return r, fmt.Errorf("%q is no date", r.header["date"])
	}
	if len(r.rows) < 2 {
		return r, fmt.Errorf("there are no rows")
	}
	for _, row := range r.rows {
		if len(row) > len(r.rows[0]) {
			return r, fmt.Errorf("the row of %q has %d fields, more than the %d columns", row[0], len(row), len(r.rows[0]))
		}
	}
	return r, nil
}

// table returns a result as a table of the page with its conditions.
func (r result) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s.** Machine: %s. Date: %s. Command: `%s`. Other load: %s.", r.header["title"], r.header["machine"], r.header["date"], r.header["command"], r.header["load"])
	if note := r.header["note"]; note != "" {
		b.WriteString(" " + note)
	}
	b.WriteString("\n\n")
	for i, row := range r.rows {
		for _, field := range row {
			b.WriteString("| " + strings.ReplaceAll(field, "|", `\|`) + " ")
		}
		b.WriteString(strings.Repeat("| ", len(r.rows[0])-len(row)) + "|\n")
		if i == 0 {
			b.WriteString("|---" + strings.Repeat("|---:", len(row)-1) + "|\n")
		}
	}
	return b.String() + "\n"
}

// fill replaces the tables of a page: the lines between "<!-- tests/peers/results/NAME.tsv -->" and "<!-- end -->". It returns the names in their
// order.
func fill(page string, tables map[string]string) (out string, names []string, err error) {
	const begin, middle, end = "<!-- tests/peers/results/", ".tsv -->\n", "<!-- end -->\n"
	for {
		before, rest, ok := strings.Cut(page, begin)
		if !ok {
			return out + page, names, nil
		}
		name, rest, ok1 := strings.Cut(rest, middle)
		_, rest, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 || tables[name] == "" {
			return "", nil, fmt.Errorf("the page has a table %.20q without its end or without a file of results", name)
		}
		out += before + begin + name + middle + tables[name] + end
		page, names = rest, append(names, name)
	}
}

// TestFigures checks that the page has each file of results once and as it is, and little other text. With OREPL_UPDATE=1 it
// writes the tables.
func TestFigures(t *testing.T) {
	files, err := filepath.Glob("results/*.tsv")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	var all []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := parseResult(string(data))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		if r.header["page"] == "no" {
			continue
		}
		tables[name], all = r.table(), append(all, name)
	}
	data, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	want, names, err := fill(string(data), tables)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if !slices.Equal(names, all) {
		t.Errorf("the page has the results %q, and the folder %q", names, all)
	}
	if want != string(data) {
		if os.Getenv("OREPL_UPDATE") == "1" {
			err = os.WriteFile(figures, []byte(want), 0o644)
		} else {
			err = fmt.Errorf("%s does not have the tables of results: run OREPL_UPDATE=1 go test ./tests/peers -run TestFigures", figures)
		}
		if err != nil {
			t.Error(err)
		}
	}
	text, table := 0, false
	for line := range strings.Lines(want) {
		switch {
		case strings.HasPrefix(line, "<!-- "):
			table = strings.HasPrefix(line, "<!-- tests/")
		case !table:
			text++
		}
	}
	if text > mostText {
		t.Errorf("the page has %d lines of text, more than %d", text, mostText)
	}
}

// TestResultsComplain checks that files of results without their conditions are refused.
func TestResultsComplain(t *testing.T) {
	const good = "# title: t\n# machine: m\n# date: 2026-11-21\n# command: c\n# load: quiet\nkernel\trate\nsaxpy\t1\n"
	if r, err := parseResult(good); err != nil || !strings.Contains(r.table(), "| saxpy | 1 |\n") {
		t.Errorf("%v", err)
	}
	for _, cut := range []string{"# machine: m\n", "# date: 2026-11-21\n", "# command: c\n", "# load: quiet\n", "saxpy\t1\n", "kernel\trate\n"} {
		if _, err := parseResult(strings.Replace(good, cut, "", 1)); err == nil {
			t.Errorf("a file without %q is accepted", cut)
		}
	}
	if _, err := parseResult(good + "a\tb\tc\n"); err == nil {
		t.Error("a row that is too long is accepted")
	}
}
