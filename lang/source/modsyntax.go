package source

import (
	"strings"
)

// Import is one import or re-export statement.
type Import struct {
	From   string // specifier as written
	Type   string // type of "with { type: … }"; may be empty
	Offset int    // offset of the statement in the parsed text
	Named  int    // offset of the specifier
	// Names are the bindings of the statement; a side-effect import has none.
	Names []ImportName
}

// ImportName binds an export of another module.
type ImportName struct {
	Export string // exported name in the other module; "default"; "*" for the namespace
	Local  string // local name; empty for a re-export
	Offset int
}

// Export is an exported name of a module.
type Export struct {
	Name  string
	Local string // local binding; empty for a re-export
	// For a re-export, Import is the index of the import, and ImportName is the exported name there ("*" for the namespace).
	Import     int
	ImportName string
	Offset     int
}

// moduleSyntax holds the import and export statements of a text.
type moduleSyntax struct {
	imports []Import
	exports []Export
	stars   []int // imports of "export *" statements
	// declared holds the offsets of exported declarations, whose names are found in the syntax tree.
	declared []int
	// defaultVar is the offset of the variable that holds an exported default expression, or -1.
	defaultVar int
	// dynamic holds the offsets of "import" in import(…) and import.meta.
	dynamic map[int]bool
}

// maskedDefault is the parsed name of the variable of an exported default expression. The tree renames it to defaultName, which
// scripts cannot write.
const (
	maskedDefault = "$e"
	maskedImport  = "$mport"
)

// maskModuleSyntax replaces syntax that the parser does not support by text of the same size, and returns the original syntax.
func maskModuleSyntax(text string) (string, *moduleSyntax, error) {
	m := &moduleSyntax{defaultVar: -1}
	if !strings.Contains(text, "import") && !strings.Contains(text, "export") {
		return text, m, nil
	}
	s := &scanner{src: text}
	out := []byte(text)
	for {
		before := s.prev
		t := s.next()
		if t.kind == lexEnd {
			return string(out), m, nil
		}
		if t.kind != lexWord || before.kind == lexPunct && s.text(before) == "." {
			continue
		}
		var err error
		switch word := s.text(t); {
		case word == "import":
			err = m.scanImport(s, t, out)
		case word == "export" && s.depth() == 0:
			err = m.scanExport(s, t, out)
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// A syntaxError is an error at an offset of the parsed text.
type syntaxError struct {
	offset  int
	message string
}

func (e *syntaxError) Error() string { return e.message }

func (m *moduleSyntax) scanImport(s *scanner, t lexeme, out []byte) error {
	next := s.peek()
	if after := s.text(next); next.kind == lexPunct && (after == "(" || after == ".") {
		if m.dynamic == nil {
			m.dynamic = map[int]bool{}
		}
		m.dynamic[t.start] = true
		copy(out[t.start:], maskedImport)
		return nil
	}
	if next.kind == lexPunct && (s.text(next) == ":" || s.text(next) == ",") || s.depth() > 0 {
		return nil // a property name, or an error that the parser reports
	}
	imp := Import{Offset: t.start}
	if next.kind != lexString {
		if err := m.scanImportClause(s, &imp); err != nil {
			return err
		}
		if w := s.next(); s.text(w) != "from" {
			return &syntaxError{w.start, `expected "from"`}
		}
	}
	return m.finishFrom(s, s.next(), &imp, out)
}

// scanImportClause scans the part before "from".
func (m *moduleSyntax) scanImportClause(s *scanner, imp *Import) error {
	for {
		t := s.next()
		switch {
		case t.kind == lexWord:
			imp.Names = append(imp.Names, ImportName{Export: "default", Local: s.text(t), Offset: t.start})
		case s.text(t) == "*":
			if as := s.next(); s.text(as) != "as" {
				return &syntaxError{as.start, `expected "as" behind "*"`}
			}
			n := s.next()
			if n.kind != lexWord {
				return &syntaxError{n.start, "expected a name for the namespace"}
			}
			imp.Names = append(imp.Names, ImportName{Export: "*", Local: s.text(n), Offset: n.start})
		case s.text(t) == "{":
			names, err := scanNames(s)
			if err != nil {
				return err
			}
			for _, n := range names {
				imp.Names = append(imp.Names, ImportName{Export: n.name, Local: n.as, Offset: n.offset})
			}
		default:
			return &syntaxError{t.start, "expected names to import"}
		}
		if s.text(s.peek()) != "," {
			return nil
		}
		s.next()
	}
}

type namePair struct {
	name, as string
	offset   int
}

// scanNames scans "a, b as c }".
func scanNames(s *scanner) ([]namePair, error) {
	var names []namePair
	for {
		t := s.next()
		if s.text(t) == "}" {
			return names, nil
		}
		name, ok := moduleName(s, t)
		if !ok {
			return nil, &syntaxError{t.start, "expected a name"}
		}
		pair := namePair{name: name, as: name, offset: t.start}
		if s.text(s.peek()) == "as" {
			s.next()
			t = s.next()
			if pair.as, ok = moduleName(s, t); !ok {
				return nil, &syntaxError{t.start, `expected a name behind "as"`}
			}
		}
		names = append(names, pair)
		switch t = s.next(); s.text(t) {
		case ",":
		case "}":
			return names, nil
		default:
			return nil, &syntaxError{t.start, `expected "," or "}"`}
		}
	}
}

func moduleName(s *scanner, t lexeme) (string, bool) {
	switch t.kind {
	case lexWord:
		return s.text(t), true
	case lexString:
		return unquote(s.text(t)), true
	}
	return "", false
}

// unquote removes the quotes of a module name. Escapes are not decoded.
func unquote(s string) string {
	if len(s) < 2 {
		return s
	}
	return s[1 : len(s)-1]
}

// isClosed reports whether a string has its closing quote.
func isClosed(s string) bool { return len(s) >= 2 && s[len(s)-1] == s[0] }

// finishFrom scans the specifier, attributes and semicolon, and blanks the statement.
func (m *moduleSyntax) finishFrom(s *scanner, from lexeme, imp *Import, out []byte) error {
	if from.kind != lexString {
		return &syntaxError{from.start, "expected the name of a module in quotes"}
	}
	if !isClosed(s.text(from)) {
		return &syntaxError{from.start, "the name of a module lacks its closing quote"}
	}
	imp.From, imp.Named = unquote(s.text(from)), from.start
	end := from.end
	if w := s.peek(); w.kind == lexWord && (s.text(w) == "with" || s.text(w) == "assert") {
		s.next()
		var err error
		if imp.Type, end, err = scanAttributes(s); err != nil {
			return err
		}
	}
	if t := s.peek(); s.text(t) == ";" {
		s.next()
		end = t.end
	}
	blank(out, imp.Offset, end)
	m.imports = append(m.imports, *imp)
	return nil
}

// scanAttributes scans { type: "json" }.
func scanAttributes(s *scanner) (kind string, end int, err error) {
	open := s.next()
	if s.text(open) != "{" {
		return "", 0, &syntaxError{open.start, `expected "{" behind "with"`}
	}
	for {
		key := s.next()
		if s.text(key) == "}" {
			return kind, key.end, nil
		}
		name, _ := moduleName(s, key)
		colon, value := s.next(), s.next()
		if name != "type" || s.text(colon) != ":" || value.kind != lexString || !isClosed(s.text(value)) {
			return "", 0, &syntaxError{key.start, `the only import attribute is type, as in { type: "text" }`}
		}
		kind = unquote(s.text(value))
		if s.text(s.peek()) == "," {
			s.next()
		}
	}
}

func (m *moduleSyntax) scanExport(s *scanner, t lexeme, out []byte) error {
	next := s.next()
	switch s.text(next) {
	case "default":
		return m.scanExportDefault(s, t, next, out)
	case "*":
		return m.scanExportStar(s, t, out)
	case "{":
		return m.scanExportNames(s, t, out)
	case "const", "let", "var", "function", "class", "async":
		m.declared = append(m.declared, t.start)
		blank(out, t.start, t.end)
		s.pos, s.prev = next.start, t
		return nil
	}
	return &syntaxError{next.start, `expected a declaration, "default", "{" or "*" behind "export"`}
}

func (m *moduleSyntax) scanExportDefault(s *scanner, t, def lexeme, out []byte) error {
	after := s.next()
	rewind := after.start
	name := after
	if s.text(after) == "async" {
		name = s.next()
	}
	w := s.text(name)
	declaration := w == "function" || w == "class"
	if declaration {
		name = s.next()
		if s.text(name) == "*" {
			name = s.next()
		}
		if name.kind == lexWord && s.text(name) != "extends" {
			m.exports = append(m.exports, Export{Name: "default", Local: s.text(name), Import: -1, Offset: t.start})
			blank(out, t.start, def.end)
			s.rewind(rewind, def)
			return nil
		}
	}
	copy(out[t.start:], "var "+maskedDefault)
	copy(out[def.start:], "=      ")
	m.defaultVar = t.start + len("var ")
	m.exports = append(m.exports, Export{Name: "default", Local: defaultName, Import: -1, Offset: t.start})
	s.rewind(rewind, def)
	if declaration {
		endDeclaration(*s, out)
	}
	return nil
}

// endDeclaration inserts a semicolon after an unnamed exported function or class, which the parser reads as the value of a
// variable. Before a token that would continue the expression it replaces a space.
func endDeclaration(s scanner, out []byte) {
	s.nested = nil
	for opened := false; ; {
		t := s.next()
		switch text := s.text(t); {
		case t.kind == lexEnd:
			return
		case text == "{" && s.depth() == 1:
			opened = true
		case text == "}" && s.depth() == 0 && opened:
			next := s.peek()
			if next.kind == lexEnd || s.text(next) == ";" {
				return
			}
			// A line that begins with a word also begins a statement for the parser.
			if c := s.src[t.end]; c == ' ' || c == '\t' || next.kind != lexWord && (c == '\n' || c == '\r') {
				out[t.end] = ';'
			}
			return
		}
	}
}

// rewind moves back to an offset at nesting depth 0.
func (s *scanner) rewind(pos int, prev lexeme) {
	s.pos, s.prev, s.nested = pos, lexeme{kind: lexPunct, start: prev.end, end: prev.end}, s.nested[:0]
}

func (m *moduleSyntax) scanExportStar(s *scanner, t lexeme, out []byte) error {
	imp := Import{Offset: t.start}
	w := s.next()
	name := ""
	if s.text(w) == "as" {
		n := s.next()
		var ok bool
		if name, ok = moduleName(s, n); !ok {
			return &syntaxError{n.start, `expected a name behind "as"`}
		}
		w = s.next()
	}
	if s.text(w) != "from" {
		return &syntaxError{w.start, `expected "from"`}
	}
	if err := m.finishFrom(s, s.next(), &imp, out); err != nil {
		return err
	}
	last := len(m.imports) - 1
	if name == "" {
		m.stars = append(m.stars, last)
	} else {
		m.exports = append(m.exports, Export{Name: name, Import: last, ImportName: "*", Offset: t.start})
	}
	return nil
}

func (m *moduleSyntax) scanExportNames(s *scanner, t lexeme, out []byte) error {
	names, err := scanNames(s)
	if err != nil {
		return err
	}
	if s.text(s.peek()) == "from" {
		s.next()
		imp := Import{Offset: t.start}
		if err := m.finishFrom(s, s.next(), &imp, out); err != nil {
			return err
		}
		for _, n := range names {
			m.exports = append(m.exports, Export{Name: n.as, Import: len(m.imports) - 1, ImportName: n.name, Offset: n.offset})
		}
		return nil
	}
	end := s.pos
	if semi := s.peek(); s.text(semi) == ";" {
		s.next()
		end = semi.end
	}
	blank(out, t.start, end)
	for _, n := range names {
		m.exports = append(m.exports, Export{Name: n.as, Local: n.name, Import: -1, Offset: n.offset})
	}
	return nil
}

// blank overwrites a statement by a semicolon and spaces, except line ends.
func blank(out []byte, start, end int) {
	for i := start; i < end; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
	out[start] = ';'
}
