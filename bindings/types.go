package bindings

import (
	"regexp"
	"strings"

	"github.com/orepl/orepl/lang/later"
)

// The kinds of type declarations in Module.Types. They appear in help and completion, but have no value at run time.
const (
	Interface Kind = "interface"
	Alias     Kind = "type"
)

var (
	declaredType = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:/\*\*(.*?)\*/\n)?(interface|type) (\w+)`) }}
	extending    = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^(?:<[^{]*>)?\s*extends (\w+)`) }}
	fieldComment = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*/\*\*(.*?)\*/`) }}
	fieldHead    = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:readonly )?(\w+)(\??)(?:: |\()`) }}
)

// TypeEntries returns the interfaces and type aliases of a module, with the fields of interfaces as members.
func (m *Module) TypeEntries() []Entry {
	var list []Entry
	for _, at := range declaredType.Get().FindAllStringSubmatchIndex(m.Types, -1) {
		group := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return m.Types[at[2*i]:at[2*i+1]]
		}
		rest := m.Types[at[1]:]
		e := Entry{Name: group(3), Kind: Kind(group(2)), Help: strings.TrimSpace(group(1))}
		e.Signature = group(2) + " " + e.Name
		switch open := strings.IndexByte(rest, '{'); {
		case e.Kind == Alias:
			end := strings.IndexByte(rest+"\n", '\n')
			e.Signature += rest[:end]
		case open >= 0:
			e.Signature += strings.TrimRight(rest[:open], " ")
			if base := extending.Get().FindStringSubmatch(rest[:open]); base != nil { // the base must be declared first
				for i := range list {
					if list[i].Name == base[1] {
						e.Members = append(e.Members, list[i].Members...)
					}
				}
			}
			e.Members = append(e.Members, Fields(rest[open:])...)
		}
		list = append(list, e)
	}
	return list
}

// Fields parses the fields of an object type at the start of text, such as "{ a: number; b?: string }".
func Fields(text string) []Entry {
	var list []Entry
	for _, part := range topLevel(inBrackets(text), ";\n") {
		help := ""
		if m := fieldComment.Get().FindStringSubmatch(part); m != nil {
			help, part = strings.TrimSpace(m[1]), part[len(m[0]):]
		}
		if m := fieldHead.Get().FindStringSubmatch(part); m != nil {
			list = append(list, Entry{Name: m[1], Kind: Property, Signature: strings.TrimSpace(part), Help: help})
		} else if help != "" {
			list = append(list, Entry{Help: help}) // the comment of the field on the next line
		}
	}
	return joined(list)
}

// joined merges each comment on a line of its own into the field that follows it.
func joined(list []Entry) []Entry {
	var out []Entry
	help := ""
	for _, e := range list {
		if e.Name == "" {
			help = e.Help
			continue
		}
		if e.Help == "" {
			e.Help = help
		}
		help = ""
		out = append(out, e)
	}
	return out
}

// Type returns the TypeScript type of a property, constant or field.
func (e *Entry) Type() string {
	first, _, _ := strings.Cut(e.Signature, "\n")
	_, typ, _ := strings.Cut(first, ": ")
	return typ
}

// Values returns the string literals of a union type as written, such as 'on', and true and false for boolean. It omits all
// other alternatives.
func Values(typ string) []string {
	var list []string
	for _, part := range topLevel(typ, "|") {
		switch part = strings.TrimSpace(part); {
		case part == "boolean":
			list = append(list, "true", "false")
		case strings.HasPrefix(part, "'"):
			list = append(list, part)
		}
	}
	return list
}

// ParameterTypes returns the types of the function's parameter i, counted from 0, one for each overload that has this parameter
// with a type.
func (e *Entry) ParameterTypes(i int) []string {
	var list []string
	for signature := range strings.Lines(e.Signature) {
		open := parametersOf(signature)
		if open < 0 {
			continue
		}
		if params := topLevel(inBrackets(signature[open:]), ","); i < len(params) {
			if _, typ, ok := strings.Cut(params[i], ": "); ok {
				list = append(list, strings.TrimSpace(typ))
			}
		}
	}
	return list
}

// parametersOf returns the index of the parenthesis that opens a signature's parameters, or -1. It skips type parameters.
func parametersOf(signature string) int {
	depth := 0
	for i := range signature {
		switch signature[i] {
		case '<':
			depth++
		case '>':
			if signature[i-1] != '=' {
				depth--
			}
		case '(':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// inBrackets returns the part of text between the opening bracket with which text starts and the matching bracket, or "" if none
// matches.
func inBrackets(text string) string {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return text[1:i]
			}
		}
	}
	return ""
}

// topLevel splits a text at separators outside brackets, single quotes and block comments.
func topLevel(text, separators string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			if end := strings.IndexByte(text[i+1:], '\''); end >= 0 {
				i += 1 + end
			}
		case strings.HasPrefix(text[i:], "/*"):
			if end := strings.Index(text[i:], "*/"); end >= 0 {
				i += end + 1
			}
		case c == '=' && i+1 < len(text) && text[i+1] == '>': // the > of an arrow is not a bracket
			i++
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		case depth == 0 && strings.IndexByte(separators, c) >= 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}
