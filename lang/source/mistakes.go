package source

import (
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/orepl/orepl/lang/later"
)

// mistakes pairs patterns of esbuild's messages with hints. A hint may have $1 for the text that the first group of its pattern
// matches.
var mistakes = later.Value[[]mistake]{Make: func() []mistake {
	var list []mistake
	for _, m := range [][2]string{
		{`^Private name "(#\w+)" must be declared`, `declare it in the body of the class: class A { $1; … }`},
		{`more than one constructor`, `keep one constructor; default values of its parameters and static methods make objects in other ways`},
		{`^Class constructor cannot be`, `take another name: a class calls its constructor for new`},
		{`^Unexpected "super"`, `super.name is for methods of classes and objects, and super(…) for the constructor of a class with extends`},
		{`"yield" outside a generator`, `write function* to make the function a generator`},
		{`^Legacy octal`, `octal numbers begin with 0o, as in 0o755, and decimal ones with another digit than 0; in texts write \x41 or \u0041`},
		{`^Delete of a bare identifier`, `delete removes properties, as in delete object.name; a variable ends with its block`},
		{`^With statements`, `write the object before each of its properties, or const { a, b } = object`},
		{`^Invalid assignment target`, `only variables, properties and patterns of them are assigned; a?.b is not, and == compares`},
		{`^Cannot use "break"`, `break ends a loop, a switch or a block with a label; return ends a function, as in forEach`},
		{`^Cannot use "continue"`, `continue is for loops; return ends a function, as in forEach`},
		{`^Cannot use "new\.target"`, `new.target is for functions, methods and constructors`},
		{`^Cannot use "(\w+)" as an identifier`, `$1 is a word of the language: take another name`},
		{`^There is no containing label named "(.+)"`, `write the label before the loop or block around this place, as in $1: for (…) { … }`},
		{`^Duplicate label`, `rename one of them`},
		{`^Multiple default clauses`, `keep one default clause`},
		{`^The constant "(.+)" must be initialized`, `write const $1 = value, or let $1`},
		{`cannot be bound multiple times`, `rename one of the parameters`},
		{`loop variables cannot have an initializer`, `remove the value: each iteration assigns the variable`},
		{`^Cannot use a declaration in a single-statement`, `put the declaration into braces`},
		{`^Unicode escape sequence is out of range`, `the greatest code point is \u{10FFFF}`},
		{`^Unexpected "if"`, `if is a statement; a value that depends on a condition is written condition ? a : b`},
		{`^Unexpected "(for|while|do|switch|try|throw|return|const|let|var)"`, `$1 begins a statement, and a value is expected here`},
		{`^Unexpected "<"`, `a value is expected before it; JSX is not part of the language`},
		{`^Unexpected "="`, `properties of an object are written name: value; = follows a variable or a property`},
	} {
		list = append(list, mistake{regexp.MustCompile(m[0]), m[1]})
	}
	return list
}}

type mistake struct {
	message *regexp.Regexp
	hint    string
}

// mistaken returns the hint of the first of mistakes that matches a message, or "" if none does.
func mistaken(message string) string {
	for _, m := range mistakes.Get() {
		if at := m.message.FindStringSubmatchIndex(message); at != nil {
			return string(m.message.ExpandString(nil, m.hint, message, at))
		}
	}
	return ""
}

var (
	typedLine = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:export\s+)?(?:declare\s+)?(?:(?:interface|type|enum|namespace|abstract\s+class)\s+[\w$]+|(?:public|private|protected|readonly)\s+[\w$]+|import\s+type\b)`)
	}}
	typedParameter = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`[(,]\s*[\w$]+\??\s*$`) }}
	typedVariable  = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\b(?:let|const|var)\s+[\w$]+\s*$`) }}
)

// isTyped reports whether a message is about a declaration of TypeScript, the type of a variable, parameter or result, or the
// operator as.
// Expressions such as <T>x are not recognized.
func isTyped(m api.Message) bool {
	if m.Location == nil {
		return false
	}
	line := m.Location.LineText
	before := line[:min(m.Location.Column, len(line))]
	switch names := found.Get().FindStringSubmatch(m.Text); {
	case typedLine.Get().MatchString(line):
		return true
	case names == nil:
		return false
	case names[2] != ":":
		return names[2] == "as"
	case names[1] == ")":
		return typedParameter.Get().MatchString(before)
	case names[1] == ";" && !strings.Contains(line[len(before):], "=>"):
		return typedVariable.Get().MatchString(before)
	}
	return strings.HasSuffix(strings.TrimSpace(before), ")")
}

// own reports whether a note is about esbuild: its options, or a statement that this package adds.
func own(note string) bool {
	return strings.HasPrefix(note, "This file is considered to be an ECMAScript module") || strings.HasPrefix(note, "The esbuild loader")
}
