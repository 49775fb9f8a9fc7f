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
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"

	"github.com/orepl/orepl/lang/spelling"
)

// Read reads a file by its extension: .json, .toml, .yaml or .yml. It returns the name, for errors, and the values: maps, lists,
// texts, booleans, and numbers of type int64, uint64, float64 or json.Number. The file system may be os.DirFS(".") or an embed.FS.
// The error names the file, and the line of a syntax error.
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
	values, err := Parse(format, data)
	var wrong *syntaxError
	if errors.As(err, &wrong) {
		return name, nil, &syntaxError{name + ": " + wrong.place, name + ": " + wrong.text}
	}
	if err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, values, nil
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

// near returns the file of the same folder whose name resembles another one.
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

// syntaxError is an error whose text may show a part of the file.
type syntaxError struct{ place, text string }

func (e *syntaxError) Error() string { return e.text }

// Place returns the file, if known, and the line.
func (e *syntaxError) Place() string { return e.place }

// wrongAt returns the error of a text at a line, which is the last one if the text ends too early.
func wrongAt(data []byte, offset int, what string) error {
	place := fmt.Sprintf("line %d", 1+bytes.Count(data[:min(offset, len(data))], []byte("\n")))
	return &syntaxError{place, place + ": " + what}
}

// Parse parses a text; format is an extension that Read knows.
func Parse(format string, data []byte) (values map[string]any, err error) {
	for i, rest := 0, data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return nil, wrongAt(data, i, "the text is not UTF-8")
		}
		i, rest = i+size, rest[size:]
	}
	switch strings.ToLower(format) {
	case ".json":
		return parseJSON(data)
	case ".toml":
		_, err = toml.Decode(string(data), &values)
		var wrong toml.ParseError
		if errors.As(err, &wrong) {
			return nil, wrongTOML(data, wrong)
		}
	case ".yaml", ".yml":
		err = yaml.Unmarshal(data, &values)
		var wrong yaml.Error
		if errors.As(err, &wrong) {
			place := "YAML"
			if at := wrong.GetToken(); at != nil && at.Position != nil {
				place = fmt.Sprintf("line %d", at.Position.Line)
			}
			return nil, &syntaxError{place, strings.TrimSpace(err.Error())}
		}
	default:
		return nil, fmt.Errorf("the format %q is unknown: %s are known", format, strings.Join(formats, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimSpace(err.Error()))
	}
	return values, nil
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
	line := max(wrong.Position.Line, 1)
	place := fmt.Sprintf("line %d", line)
	return &syntaxError{place, place + ": " + what}
}

func parseJSON(data []byte) (values map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)
	switch err = d.Decode(&values); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, wrongAt(data, len(bytes.TrimRight(data, "\n")), "the text ends where the object { … } does not")
	case errors.As(err, &kind):
		return nil, wrongAt(data, 0, "settings are an object { … }, not "+article(kind.Value))
	case errors.As(err, &syntax):
		return nil, wrongAt(data, int(syntax.Offset), unexpected(data, int(syntax.Offset)))
	case err != nil:
		return nil, err
	case values == nil:
		return nil, wrongAt(data, 0, "settings are an object { … }, not null")
	}
	if _, err = d.Token(); err != io.EOF {
		return nil, wrongAt(data, int(d.InputOffset()), "text follows the object")
	}
	return values, nil
}

// unexpected describes the character before an offset, at which the syntax of JSON ends.
func unexpected(data []byte, offset int) string {
	before := data[:min(offset, len(data))]
	r, size := utf8.DecodeLastRune(before)
	before = bytes.TrimRight(before[:len(before)-size], " \t\r\n")
	hint := ""
	switch {
	case bytes.HasSuffix(before, []byte(",")) && (r == '}' || r == ']'):
		hint = ": no comma precedes it"
	case r == '/' || r == '#':
		hint = ": there are no comments in JSON"
	case r == '\'':
		hint = `: texts are in "`
	}
	return fmt.Sprintf("%q is not expected here%s", string(r), hint)
}

// article writes a kind of JSON with its article.
func article(kind string) string {
	if kind == "array" {
		return "an array"
	}
	return "a " + strings.ReplaceAll(kind, "bool", "boolean")
}
