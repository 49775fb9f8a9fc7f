package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// Builtin replaces the message of a TypeError that the builtin function called name threw, adds a hint, and reports whether it
// did.
func Builtin(d *diag.Diagnostic, name string) bool {
	if d.Name != "TypeError" || name == "" {
		return false
	}
	isObject := strings.HasPrefix(d.Message, NotObject)
	switch {
	case d.Message == "Value is not object coercible":
		if name == "call" || name == "apply" {
			name = "the method"
		}
		d.Message = name + " is called on undefined or null"
		d.Hint = "write ?. before the call if the value may be missing"
	case d.Message == "No initial value":
		d.Message = name + " is called on an empty array without a first value"
		d.Hint = fmt.Sprintf("pass a first value as the second argument, as in %s((a, b) => a + b, 0)", name)
	case isObject && (name == "call" || name == "apply"):
		return false
	case isObject:
		TakesObject(d, name, name)
	default:
		return false
	}
	return true
}

// Prefixes of the interpreter's messages.
const (
	NotObject   = "Value is not an object: "
	NotReceiver = "Receiver is not an object: "
)

// callbacks are the builtin functions whose argument is a function.
var callbacks = []string{
	"every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach", "map", "reduce", "reduceRight", "some", "sort", "toSorted",
	"groupBy", "Promise",
}

// TakesObject describes a call of a builtin function with a value that is no object; name is the last of the callee's names.
func TakesObject(d *diag.Diagnostic, callee, name string) {
	value := strings.TrimPrefix(d.Message, NotObject)
	if slices.Contains(callbacks, name) {
		d.Message, d.Hint = fmt.Sprintf("%s takes a function, not %s", callee, value), "write a function, as in x => x * 2"
		return
	}
	d.Message, d.Hint = fmt.Sprintf("%s takes an object here, not %s", callee, value), AdviceOnObject
}

// AdviceOnObject is the hint for a value that must be an object.
const AdviceOnObject = "put the value into an object, as in { value }, or pass the object that has it"
