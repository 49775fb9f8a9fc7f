// Package wording describes errors of the interpreter by the code at their positions, for messages and hints.
package wording

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// Advice returns advice for an error of one of the interpreter's builtins or operators, and "" if it has none. before and after
// are the source text on either side of the position.
func Advice(d *diag.Diagnostic, before, after string) string {
	has := func(part string) bool { return strings.Contains(d.Message, part) }
	switch d.Name {
	case "SyntaxError":
		if strings.Contains(after, "RegExp(") || strings.Contains(before, "RegExp") {
			return `a backslash takes ( ) [ ] { } . * + ? as they are: '\\(' in quotes or \( in /…/`
		}
		if has("BigInt") {
			return "a BigInt is written in digits, as in BigInt('123')"
		}
	case "RangeError":
		switch {
		case has("array length"), has("rray buffer"), has("rray size"), has("typed array"):
			return "a length is an integer, not negative and below 2³²"
		case has("toString() radix"):
			return "a radix is an integer from 2 to 36"
		case has("toFixed"), has("toPrecision"), has("toExponential"), has("precision"), has("digits"):
			return "0 to 100 digits are possible, toPrecision takes 1 to 100"
		case has("repeat"), has("count"):
			return "a count is an integer, not negative"
		case has("time value"), has("date"):
			return "the date was made from something that is none: test it with isNaN(date)"
		}
	case "ReferenceError":
		if has("super constructor") {
			return "call super(…) in the constructor before this is used"
		}
	case "TypeError":
		return adviceOnTypes(d, before, after)
	case "URIError":
		return "a % stands before two hexadecimal digits; encodeURIComponent writes it as %25"
	}
	return ""
}

func adviceOnTypes(d *diag.Diagnostic, before, after string) string {
	has := func(part string) bool { return strings.Contains(d.Message, part) }
	switch {
	case has("without 'new'"), has("requires 'new'"):
		if callee := TrailingExpression(before); callee != "" {
			return fmt.Sprintf("write new %s(…)", callee)
		}
		return "write new before the class"
	case has("private member"), has("private method"):
		if name := regexp.MustCompile(`#[\p{L}\w$]+`).FindString(d.Message); name != "" {
			return fmt.Sprintf("only objects that the class made have it: test with %s in object", name)
		}
	case has("Cannot read property"), has("undefined or null"), has("object coercible"):
		return "null and undefined have no properties: write ?. before the property if the value may be missing"
	case has("not extensible"), has("read only"), has("read-only"), has("not writable"), has("Cannot assign to"), has("Cannot delete"), has("Cannot redefine"):
		return "the object is frozen or sealed, or the property cannot be changed: change a copy, as in { ...object, name: value }"
	case has("circular"):
		return "leave the object out that leads back, with a replacer: JSON.stringify(value, (key, value) => …)"
	case has("BigInt"):
		return "JSON and Math take no BigInt: convert it with Number(x) or String(x)"
	case has("Symbol"):
		return "write String(symbol), or symbol.description"
	case has("Reduce of empty"), has("reduce of empty"):
		return "give reduce a first value as second argument"
	case has("primitive value"):
		return "the object has neither toString nor valueOf: name the property that is meant"
	case has("is not a function"), has("not callable"):
		return "pass a function, as in x => …; its name without parentheses"
	case has("Incompatible receiver"), has("incompatible receiver"), has("not an object of type"), has("called on"):
		return "the method was taken off its object: call it as object.method(…), or bind it"
	}
	return ""
}
