// Package docs embeds the pages of the documentation, for the search of the prompt's help.
package docs

import (
	"embed"
	"io/fs"
	"regexp"
	"strings"

	"github.com/orepl/orepl/lang/later"
)

//go:embed *.md
var pages embed.FS

// Section is a part of a page below a heading.
type Section struct {
	Page    string // name of the file without .md
	Heading string
	Text    string
	File    string // the example that it describes, instead of a heading
}

// example matches a row of a table about an example.
var example = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^\| \[[^\]]*\]\(\.\./(examples/[\w/.-]+)\) \| (.*) \|$`)
}}

// Where names the file for a reader.
func (s *Section) Where() string {
	if s.File != "" {
		return s.File
	}
	return "docs/" + s.Page + ".md"
}

// Prose returns the text without code blocks, tables and lists.
func (s *Section) Prose() string {
	var lines []string
	code := false
	for line := range strings.Lines(s.Text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
			continue
		}
		if !code && line != "" && !strings.ContainsRune("|#-*<", rune(line[0])) {
			lines = append(lines, strings.ReplaceAll(line, "`", ""))
		}
	}
	return strings.Join(lines, " ")
}

// Sections returns the sections of all pages but the reference, which the registry of names holds already, and the record of a
// session.
var Sections = later.Value[[]Section]{Make: func() []Section {
	var list []Section
	names, _ := fs.Glob(pages, "*.md") // the pattern is valid
	for _, name := range names {
		page := strings.TrimSuffix(name, ".md")
		if page == "reference" || page == "repl" {
			continue
		}
		data, _ := pages.ReadFile(name) // the name is of this file system
		s := Section{Page: page}
		code := false
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if heading, ok := strings.CutPrefix(line, "## "); ok && !code {
				list = append(list, s)
				s = Section{Page: page, Heading: strings.TrimSpace(heading)}
				continue
			}
			if row := example.Get().FindStringSubmatch(strings.TrimSpace(line)); row != nil {
				list = append(list, Section{Page: page, Text: row[2], File: row[1]})
				continue
			}
			s.Text += line
		}
		list = append(list, s)
	}
	return list
}}
