// Package files reads settings from files of JSON, TOML and YAML, for function FromValues of package orepl.
//
// It is apart from package orepl, so that programs without such files do not link the libraries.
package files

import (
	"bytes"
	"encoding/json"
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
	if err != nil {
		return name, nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, values, nil
}

// Parse parses a text; format is an extension that Read knows.
func Parse(format string, data []byte) (values map[string]any, err error) {
	switch strings.ToLower(format) {
	case ".json":
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err = d.Decode(&values); err != nil {
			line := 1 + bytes.Count(data[:min(int(d.InputOffset()), len(data))], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if _, err = d.Token(); err != io.EOF {
			return nil, fmt.Errorf("text follows the object")
		}
		return values, nil
	case ".toml":
		_, err = toml.Decode(string(data), &values)
	case ".yaml", ".yml":
		err = yaml.Unmarshal(data, &values)
	default:
		return nil, fmt.Errorf("the format %q is unknown: .json, .toml, .yaml and .yml are known", format)
	}
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimSpace(err.Error()))
	}
	return values, nil
}
