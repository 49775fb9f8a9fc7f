// Package files reads settings from files of JSON, TOML and YAML, for function FromValues of package orepl.
//
// It is apart from package orepl, so that programs without such files do not link the libraries.
package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/orepl/orepl/lang/spelling"
)

// Read reads a file by its extension: .json, .toml, .yaml or .yml. It returns the name, for errors, and the values with their
// lines, each as a [config.At]: maps, lists, texts, booleans, times, and numbers of type int64, uint64, float64 or json.Number.
// The file system may be os.DirFS(".") or an embed.FS. The error names the file, and the line of a syntax error.
func Read(files fs.FS, name string) (string, map[string]any, error) {
	format := strings.ToLower(path.Ext(name))
	switch {
	case !slices.Contains(formats, format):
		return name, nil, fmt.Errorf("%s: the format %q is unknown: the name ends in %s", name, format, spelling.Or(formats))
	case files == nil:
		return name, nil, fmt.Errorf("%s: the file system is nil: pass os.DirFS(%q) or an embed.FS", name, ".")
	case !fs.ValidPath(name):
		return name, nil, fmt.Errorf("%s: write a path within the file system, with slashes and without .. or a leading /, such as files.Read(os.DirFS(%q), %q)",
			name, path.Dir(name), path.Base(name))
	}
	data, err := fs.ReadFile(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return name, nil, &missing{name, near(files, name)}
	case err != nil:
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return name, nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	values, at, err := parse(format, data)
	var wrong *syntaxError
	if errors.As(err, &wrong) {
		return name, nil, &syntaxError{name + ": " + wrong.text, name + ": " + wrong.bare}
	}
	if err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, at.inMap(values, ""), nil
}

var formats = []string{".json", ".toml", ".yaml", ".yml"}

// missing is the error of a file that does not exist.
type missing struct{ name, near string }

func (e *missing) Error() string {
	text := e.name + ": there is no such file"
	if e.near != "" {
		return text + ": did you mean " + e.near + "?"
	}
	return text + ": create it, or leave this source of settings out"
}

func (e *missing) Unwrap() error { return fs.ErrNotExist }

// near returns the path of a file with a known extension and a similar name in the folder of name, or "" without one.
func near(files fs.FS, name string) string {
	entries, err := fs.ReadDir(files, path.Dir(name))
	if err != nil {
		return ""
	}
	var names []string
	for _, entry := range entries {
		if slices.Contains(formats, strings.ToLower(path.Ext(entry.Name()))) {
			names = append(names, entry.Name())
		}
	}
	if found := spelling.Nearest(path.Base(name), names); found != "" {
		return path.Join(path.Dir(name), found)
	}
	return ""
}

// syntaxError is an error of a parser. Its text may show a part of the file; bare says the same without that part.
type syntaxError struct{ text, bare string }

func (e *syntaxError) Error() string { return e.text }

// Bare returns the text of the error without parts of the file, which may be secret.
func (e *syntaxError) Bare() string { return e.bare }

// withoutText returns what is wrong with a text, or less if that may show a part of the text.
func withoutText(what string, data []byte) string {
	quoted, word := false, ""
	for _, r := range what + " " {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			word += string(r)
			continue
		}
		if word != "" && (quoted || len(word) > 2) && bytes.Contains(data, []byte(word)) {
			return "the syntax is wrong; the text is not shown, since it holds secrets"
		}
		word = ""
		quoted = quoted != (r == '"' || r == '\'' || r == '`')
	}
	return what
}

// wrongIn returns a syntaxError for a line. what says what is wrong, and bare says it without parts of the file.
func wrongIn(line int, what, bare string) error {
	return &syntaxError{fmt.Sprintf("line %d: %s", line, what), fmt.Sprintf("line %d: %s", line, bare)}
}

// wrongAt returns the error of a text at an offset. what shows no part of the text.
func wrongAt(data []byte, offset int, what string) error {
	return wrongIn(1+bytes.Count(data[:min(offset, len(data))], []byte("\n")), what, what)
}

// doubled returns the error of a key that is in a table twice.
func doubled(name string, line, first int) error {
	where := fmt.Sprintf("is there twice, first in line %d", first)
	return wrongIn(line, fmt.Sprintf("the key %q %s", name, where), "a key "+where)
}

// Parse parses a text; format is an extension that Read knows. Its values have no lines.
func Parse(format string, data []byte) (values map[string]any, err error) {
	values, _, err = parse(format, data)
	return values, err
}

func parse(format string, data []byte) (map[string]any, lines, error) {
	for i, rest := 0, data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return nil, nil, wrongAt(data, i, "the text is not UTF-8")
		}
		i, rest = i+size, rest[size:]
	}
	switch strings.ToLower(format) {
	case ".json":
		return parseJSON(data)
	case ".toml":
		return parseTOML(data)
	case ".yaml", ".yml":
		return parseYAML(data)
	}
	return nil, nil, fmt.Errorf("the format %q is unknown: %s are known", format, strings.Join(formats, ", "))
}

func parseTOML(data []byte) (map[string]any, lines, error) {
	values, at := map[string]any{}, lines{}
	_, err := toml.Decode(string(data), &values)
	var wrong toml.ParseError
	if errors.As(err, &wrong) {
		return nil, nil, wrongTOML(data, wrong)
	}
	if err != nil {
		return nil, nil, err
	}
	parts := map[string]toml.Primitive{}
	about, err := toml.Decode(string(data), &parts)
	if err == nil {
		at.addTOML(about, parts, values, "")
	}
	return values, at, nil
}

// wrongTOML returns the error of a text of TOML. Where the text ends too early, the parser has no line.
func wrongTOML(data []byte, wrong toml.ParseError) error {
	what := wrong.Message
	if what == "" { // a wrapped error, whose text begins with the line
		what = wrong.Error()
		if _, after, ok := strings.Cut(what, ": "); ok && strings.HasPrefix(what, "toml: line ") {
			if _, after, ok = strings.Cut(after, ": "); ok {
				what = after
			}
		}
	}
	what = strings.TrimSuffix(strings.TrimSpace(what), ".")
	if after, ends := strings.CutPrefix(what, "unexpected EOF; expected "); ends {
		if after == "value" {
			after = "a value"
		}
		return wrongAt(data, len(bytes.TrimRight(data, "\n")), "the text ends where "+after+" is expected")
	}
	bare := withoutText(what, data)
	switch {
	case strings.HasPrefix(what, "Key '"): // and what follows says that it is there twice
		bare = "a key has already been defined"
	case strings.Contains(what, "is out of range"):
		bare = "a number is out of range"
	}
	return wrongIn(max(wrong.Position.Line, 1), what, bare)
}

func parseJSON(data []byte) (values map[string]any, at lines, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch err = d.Decode(&values); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, wrongAt(data, len(bytes.TrimRight(data, "\n")), "the text ends where the object { … } does not")
	case errors.As(err, &kind):
		return nil, nil, wrongAt(data, 0, "settings are an object { … }, not "+article(kind.Value))
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		what, hint := unexpected(data, int(syntax.Offset))
		return nil, nil, wrongIn(line, what+hint, "a character is not expected here"+hint)
	case err != nil:
		return nil, nil, err
	case values == nil:
		return nil, nil, wrongAt(data, 0, "settings are an object { … }, not null")
	}
	if _, err = d.Token(); err != io.EOF {
		return nil, nil, wrongAt(data, int(d.InputOffset()), "text follows the object")
	}
	at = lines{}
	if err := at.addJSON(data); err != nil {
		return nil, nil, err
	}
	return values, at, nil
}

// unexpected describes the character before an offset, at which the syntax of JSON ends, and what to write.
func unexpected(data []byte, offset int) (what, hint string) {
	before := data[:min(offset, len(data))]
	r, size := utf8.DecodeLastRune(before)
	before = bytes.TrimRight(before[:len(before)-size], " \t\r\n")
	switch {
	case bytes.HasSuffix(before, []byte(",")) && (r == '}' || r == ']'):
		hint = ": no comma precedes it"
	case r == '/' || r == '#':
		hint = ": there are no comments in JSON"
	case r == '\'':
		hint = `: texts are in "`
	}
	return fmt.Sprintf("%q is not expected here", string(r)), hint
}

// article writes a kind of JSON with its article.
func article(kind string) string {
	if kind == "array" {
		return "an array"
	}
	return "a " + strings.ReplaceAll(kind, "bool", "boolean")
}
