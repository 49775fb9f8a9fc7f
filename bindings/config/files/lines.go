package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/BurntSushi/toml"

	"github.com/orepl/orepl/bindings/config"
)

// lines holds the lines of values by the paths that [inner] and [element] make. A value without one is in the line of the value
// around it.
type lines map[string]int

// unknown marks a value whose line, and those of the values in it, cannot be found.
const unknown = -1

// inner returns the path of a value in a table.
func inner(path, name string) string { return path + "." + strconv.Quote(name) }

// element returns the path of an element of a list.
func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// inMap returns the values of the table at path, and the values within them, each as a [config.At] with its line.
func (l lines) inMap(values map[string]any, path string) map[string]any {
	all := make(map[string]any, len(values))
	for name, value := range values {
		all[name] = l.with(value, inner(path, name), l[path])
	}
	return all
}

// with returns the value at path, and the values within it, each as a [config.At] with its line. line is that of the value
// around it, which l gets for a value without one.
func (l lines) with(value any, path string, line int) any {
	if own := l[path]; own != 0 {
		line = own
	} else {
		l[path] = line
	}
	switch x := config.General(value).(type) {
	case map[string]any:
		value = l.inMap(x, path)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = l.with(x[i], element(path, i), line)
		}
		value = list
	}
	return config.At{Value: value, Line: max(line, 0)}
}

// addJSON adds the lines of a text that has been decoded. It returns an error for a key that is in an object twice.
func (l lines) addJSON(data []byte) error {
	return (&jsonWalk{json.NewDecoder(bytes.NewReader(data)), data, 0, 1, l}).value("")
}

// jsonWalk reads a text of JSON for the lines of its values.
type jsonWalk struct {
	*json.Decoder
	data   []byte
	offset int // the line breaks before it are counted in line
	line   int
	lines  lines
}

// here returns the line of the last token.
func (w *jsonWalk) here() int {
	end := int(w.InputOffset())
	w.line += bytes.Count(w.data[w.offset:end], []byte("\n"))
	w.offset = end
	return w.line
}

func (w *jsonWalk) value(path string) error {
	token, err := w.Token()
	if err != nil {
		return err
	}
	if at := w.here(); w.lines[path] == 0 { // else the line of its key
		w.lines[path] = at
	}
	switch token {
	case json.Delim('{'):
		seen := map[string]int{}
		for w.More() {
			key, err := w.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // keys are texts
			line := w.here()
			if first := seen[name]; first != 0 {
				return doubled(name, line, first)
			}
			seen[name] = line
			w.lines[inner(path, name)] = line
			if err := w.value(inner(path, name)); err != nil {
				return err
			}
		}
		_, err = w.Token()
	case json.Delim('['):
		for i := 0; w.More(); i++ {
			if err := w.value(element(path, i)); err != nil {
				return err
			}
		}
		_, err = w.Token()
	}
	return err
}

// locator is a value that decodes from nothing: the error says where the value is.
type locator struct{}

var errLocated = errors.New("located")

// UnmarshalTOML returns an error, to which the decoder adds the line.
func (locator) UnmarshalTOML(any) error { return errLocated }

// addTOML adds the lines of keys. Tables of a list have none.
func (l lines) addTOML(about toml.MetaData, parts map[string]toml.Primitive, values map[string]any, path string) {
	for name, part := range parts {
		var wrong toml.ParseError
		if err := about.PrimitiveDecode(part, locator{}); errors.As(err, &wrong) {
			l[inner(path, name)] = wrong.Position.Line
		}
		switch value := values[name].(type) {
		case []map[string]any: // the line is that of the last one
			l[inner(path, name)] = unknown
		case map[string]any:
			var below map[string]toml.Primitive
			if about.PrimitiveDecode(part, &below) == nil {
				l.addTOML(about, below, value, inner(path, name))
			}
		}
	}
}
