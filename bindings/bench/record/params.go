package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Params are the values of the axes of a sweep, in the order of the script.
type Params []Param

// Param is a value of an axis, a number or a text.
type Param struct {
	Name  string
	Value any
}

// Get returns the value of an axis, or nil.
func (p Params) Get(name string) any {
	if i := slices.IndexFunc(p, func(one Param) bool { return one.Name == name }); i >= 0 {
		return p[i].Value
	}
	return nil
}

// MarshalJSON implements [json.Marshaler]: the parameters are an object.
func (p Params) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, one := range p {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(one.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(one.Value); err != nil {
			return nil, err
		}
	}
	if len(p) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Params) UnmarshalJSON(data []byte) error {
	*p = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	switch first, err := dec.Token(); {
	case err != nil:
		return err
	case first == nil: // null
		return nil
	case first != json.Delim('{'):
		return fmt.Errorf("params are an object, not %v", first)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := Param{Name: fmt.Sprint(name)}
		if err := dec.Decode(&one.Value); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}
