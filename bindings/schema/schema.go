// Package schema writes the parameters of a pipeline and the settings of a program as JSON Schema, TypeScript and Markdown.
//
// # Design
//
// All three come from the declaration in the script or in Go, so they cannot differ from what a run or Load accepts. Types are
// those of package params, so that a service need not know the kernel language.
package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/orepl/orepl/bindings/offloadjs/params"
)

// property is the JSON Schema of a parameter.
type property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	Default     any    `json:"default,omitempty"`
	Minimum     any    `json:"minimum,omitempty"`
	Maximum     any    `json:"maximum,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
	Unit        string `json:"x-unit,omitempty"`
	Element     string `json:"x-type,omitempty"` // the script's type of numbers
}

// JSON returns a JSON Schema, draft 2020-12, of an object with the parameters as properties. The schema accepts what a run of the
// pipeline accepts, apart from rounding to the type's precision. x-unit and x-type hold unit and type of a parameter.
func JSON(title string, list []params.Param) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": %s,\n  \"type\": \"object\",\n", encoded(title))
	b.WriteString("  \"properties\": {")
	var required []string
	for i := range list {
		p := &list[i]
		if p.Default == nil {
			required = append(required, p.Name)
		}
		text, _ := json.MarshalIndent(propertyOf(p), "    ", "  ") // cannot fail: exact has removed what JSON lacks
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %s: %s", encoded(p.Name), text)
	}
	b.WriteString("\n  },\n")
	if required != nil {
		fmt.Fprintf(&b, "  \"required\": %s,\n", encoded(required))
	}
	b.WriteString("  \"additionalProperties\": false\n}\n")
	return []byte(b.String())
}

func propertyOf(p *params.Param) property {
	s := property{Type: "number", Description: p.Doc, Default: exact(p.Default), Minimum: exact(p.Min), Maximum: exact(p.Max), Unit: p.Unit}
	s.Enum = p.Values
	switch p.Type {
	case "string":
		s.Type = "string"
		return s
	case "bool":
		s.Type = "boolean"
		return s
	}
	s.Element = p.Type
	if low, high, ok := bounds(p.Type); ok {
		s.Type = "integer"
		if s.Minimum == nil {
			s.Minimum = low
		}
		if s.Maximum == nil {
			s.Maximum = high
		}
	}
	return s
}

// exact returns a value as JSON writes it, or nil for infinities and NaN, which it lacks.
func exact(x any) any {
	if f, ok := x.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return nil
	}
	return x
}

// bounds returns the least and the greatest value of a type of integers, or false for other types.
func bounds(name string) (low, high *big.Int, ok bool) {
	bits, err := strconv.Atoi(name[1:])
	if err != nil || name[0] != 'i' && name[0] != 'u' {
		return nil, nil, false
	}
	one := big.NewInt(1)
	if name[0] == 'u' {
		high = new(big.Int).Lsh(one, uint(bits))
		return new(big.Int), high.Sub(high, one), true
	}
	high = new(big.Int).Lsh(one, uint(bits-1))
	return new(big.Int).Neg(high), new(big.Int).Sub(high, one), true
}

func encoded(x any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(x) // strings only
	return strings.TrimSpace(b.String())
}

// TypeScript returns the declaration of an interface with the parameters as properties; those with a default are optional.
func TypeScript(name string, list []params.Param) string {
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", name)
	for i := range list {
		p := &list[i]
		about := strings.TrimPrefix(p.String(), p.Name+": ")
		fmt.Fprintf(&b, "  /** %s */\n  %s", strings.ReplaceAll(about, "*/", "*\\/"), key(p.Name))
		if p.Default != nil {
			b.WriteByte('?')
		}
		fmt.Fprintf(&b, ": %s\n", typeOf(p))
	}
	b.WriteString("}\n")
	return b.String()
}

// key returns a property's name, in quotes unless it is an identifier of ASCII.
func key(name string) string {
	for i, r := range name {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return encoded(name)
		}
	}
	return name
}

func typeOf(p *params.Param) string {
	if len(p.Values) > 0 {
		texts := make([]string, len(p.Values))
		for i, v := range p.Values {
			texts[i] = params.Text(v)
			if n, ok := v.(*big.Int); ok {
				texts[i] = n.String() + "n"
			}
		}
		return strings.Join(texts, " | ")
	}
	switch p.Type {
	case "string":
		return "string"
	case "bool":
		return "boolean"
	case "i64", "u64":
		return "number | bigint"
	}
	return "number"
}

// Markdown returns a table of the parameters: name, type, default, allowed values and meaning. It returns "" for an empty
// list.
func Markdown(list []params.Param) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| parameter | type | default | allowed | meaning |\n|---|---|---|---|---|\n")
	for i := range list {
		p := &list[i]
		value := ""
		if p.Default != nil {
			value = code(params.Text(p.Default))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(p.Name), p.Type, value, cell(p.Allowed()), cell(p.Doc))
	}
	return b.String()
}

func code(text string) string { return "`" + cell(text) + "`" }

// cell returns a text as the cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(text)
}
