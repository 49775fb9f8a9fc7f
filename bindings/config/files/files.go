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
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"
)

// Read reads a file by its extension: .json, .toml, .yaml or .yml. It returns the name, for errors, and the values: maps, lists,
// texts, booleans, and numbers of type int64, uint64, float64 or json.Number. The file system may be os.DirFS(".") or an embed.FS.
// The error names the file, and the line of a syntax error.
func Read(files fs.FS, name string) (string, map[string]any, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return name, nil, err
	}
	values, err := Parse(path.Ext(name), data)
	var wrong *syntaxError
	if errors.As(err, &wrong) {
		return name, nil, &syntaxError{name + ": " + wrong.place, name + ": " + wrong.text}
	}
	if err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, values, nil
}

// syntaxError is an error whose text may show a part of the file.
type syntaxError struct{ place, text string }

func (e *syntaxError) Error() string { return e.text }

// Place returns the file, if known, and the line.
func (e *syntaxError) Place() string { return e.place }

// Parse parses a text; format is an extension that Read knows.
func Parse(format string, data []byte) (values map[string]any, err error) {
	switch strings.ToLower(format) {
	case ".json":
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err = d.Decode(&values); err != nil {
			offset := d.InputOffset()
			var wrong *json.SyntaxError
			if errors.As(err, &wrong) {
				offset = wrong.Offset
			}
			line := 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
			return nil, &syntaxError{fmt.Sprintf("line %d", line), fmt.Sprintf("line %d: %v", line, err)}
		}
		if _, err = d.Token(); err != io.EOF {
			return nil, fmt.Errorf("text follows the object")
		}
		return values, nil
	case ".toml":
		_, err = toml.Decode(string(data), &values)
		var wrong toml.ParseError
		if errors.As(err, &wrong) {
			return nil, &syntaxError{fmt.Sprintf("line %d", wrong.Position.Line), strings.TrimSpace(err.Error())}
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
		return nil, fmt.Errorf("the format %q is unknown: .json, .toml, .yaml and .yml are known", format)
	}
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimSpace(err.Error()))
	}
	return values, nil
}
