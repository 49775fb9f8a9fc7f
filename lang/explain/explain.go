// Package explain extends the interpreter's messages by the failing expression and a hint. The interpreter reports values and
// positions; the expressions are read from the source text.
package explain

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/wording"
)

// An Explainer explains the errors of one interpreter. It must be used on the goroutine that runs the scripts, and runs no code
// of them.
type Explainer struct {
	vm        *goja.Runtime
	inspector *inspect.Inspector
	known     Known
	missing   lookup // the last one that Missed recorded
}

// lookup is the lookup of a member that the objects of a class lack.
type lookup struct{ class, member string }

// Known describes the files and modules that an interpreter's scripts use.
type Known interface {
	// SourceText returns the text of a loaded file.
	SourceText(file string) (string, bool)
	// Imports reports whether a file has an import with a local name.
	Imports(file, name string) bool
	// ModuleNames returns the sorted names of the builtin modules.
	ModuleNames() []string
	// Module returns the exports of a builtin module, or nil if no script has used it. declared, unless nil, returns the names
	// of the exports that are known before its use. known is false if there is no such module.
	Module(name string) (exports *goja.Object, declared func() []string, known bool)
}

// New returns an explainer for an interpreter.
func New(vm *goja.Runtime, inspector *inspect.Inspector, known Known) *Explainer {
	return &Explainer{vm: vm, inspector: inspector, known: known}
}

// Missed records that a script looked up a member that the objects of a class lack.
func (x *Explainer) Missed(class, member string) { x.missing = lookup{class, member} }

// has reports whether a builtin module exists.
func (x *Explainer) has(module string) bool {
	_, _, known := x.known.Module(module)
	return known
}

var (
	typeProxy   = reflect.TypeFor[goja.Proxy]()
	typePromise = reflect.TypeFor[*goja.Promise]()
)

// property returns a property of o or its prototypes without running script code. It returns nil for a getter, a proxy or a missing
// property.
func (x *Explainer) property(o *goja.Object, name string) goja.Value {
	return x.inspector.Data(o, x.vm.ToValue(name))
}

// Explain extends the message of an error of the interpreter by the failing expression, and adds a hint. An error without an
// excerpt, with a hint, or created by the script stays as it is.
func (x *Explainer) Explain(d *diag.Diagnostic) {
	if d.Excerpt == nil || d.Hint != "" {
		return
	}
	line := []rune(d.Excerpt.Lines[len(d.Excerpt.Lines)-1])
	at := min(max(d.Column-1, 0), len(line))
	before, after := string(line[:at]), string(line[at:])
	message := d.Message
	if tag := wording.LeadingExpression(after); tag != "" && strings.HasPrefix(after[len(tag):], "`") && isCall(message) {
		before, after = before+tag, after[len(tag):] // the position is that of the tag
		d.Column += len([]rune(tag))
	}
	switch name := d.Name; {
	case madeByScript.Get().MatchString(after):
		return // the message was written by the script
	case name == "ReferenceError" && strings.HasPrefix(message, "Cannot access a variable before"):
		if word := wording.LeadingWord(after); word != "" {
			d.Message = fmt.Sprintf("%s is used before its declaration has run", word)
			d.Hint = "move the declaration up, or the use down"
		}
	case name != "TypeError":
		d.Hint = wording.Advice(d, before, after)
	case message == "":
		d.Message = "the element or property cannot be changed"
		d.Hint = "the object is frozen or sealed: change a copy, as in [...array] or { ...object }"
	case strings.HasPrefix(message, wording.NotReceiver):
		d.Message = fmt.Sprintf("a property of %s cannot be set: it is no object", strings.TrimPrefix(message, wording.NotReceiver))
		d.Hint = "numbers, strings and booleans have no properties of their own: put the value into an object, as in { value }"
	case strings.HasPrefix(message, "Not a function: "):
		x.explainCall(d, wording.TrailingExpression(before))
	case strings.HasPrefix(message, "Value is not an object: ") && strings.HasPrefix(after, "(") && x.isFunction(wording.TrailingExpression(before)):
		callee := wording.TrailingExpression(before)
		wording.TakesObject(d, callee, callee[strings.LastIndexByte(callee, '.')+1:])
	case strings.HasPrefix(message, "Object has no member '"), strings.HasPrefix(message, "Value is not an object: ") && behindCallee(before, after):
		x.explainCall(d, wording.TrailingExpression(before))
	case strings.HasPrefix(message, "Value is not an object: "):
		x.explainOperator(d, after)
	case strings.HasPrefix(message, readOf):
		x.explainRead(d, before, after)
	case message == "Cannot convert undefined or null to object":
		x.explainAbsent(d, before, after)
	case message == "object is not iterable":
		object := wording.LeadingExpression(after)
		if i := strings.Index(after, "..."); object == "" && i >= 0 {
			object = wording.LeadingExpression(after[i+3:])
		}
		switch {
		case object == "" || slices.Contains(beginnings, object) || !strings.Contains(before+after, "...") && !strings.Contains(after, "(") && !strings.Contains(before, " of "):
			d.Message = "the value is not iterable"
		default:
			d.Message = object + " is not iterable"
			d.Hint = x.Await(d, object)
		}
		if d.Hint == "" {
			d.Hint = "arrays, strings, maps, sets and generators are; for the properties of an object, write Object.entries(…)"
		}
	case message == "Value is not object coercible":
		d.Message = "undefined or null cannot be taken apart into variables"
		d.Hint = "give a default, as in const { a } = value ?? {}"
	case message == "Value is not a constructor":
		if object := wording.LeadingExpression(strings.TrimPrefix(after, "new ")); object != "" {
			d.Message = object + " is not a constructor"
			d.Hint = "only classes and functions made with function can follow new"
		}
	case strings.HasPrefix(message, "Cannot mix BigInt"):
		d.Hint = "convert one side: Number(x), or BigInt(n)"
	case message == "Assignment to constant variable.":
		switch word := wording.LeadingWord(after); {
		case word == "":
		case x.known.Imports(d.File, word):
			d.Message, d.Hint = word+" is imported and cannot be assigned", "only the module that exports it assigns it; keep another value in a variable of your own"
		default:
			d.Message, d.Hint = word+" is a constant and cannot be assigned", fmt.Sprintf("declare it with let %s", word)
		}
	default:
		d.Hint = wording.Advice(d, before, after)
	}
}

// explainAbsent explains a change or an iteration of undefined or null. The texts are those on both sides of the position.
func (x *Explainer) explainAbsent(d *diag.Diagnostic, before, after string) {
	property, object := changed(wording.LeadingWord(after), wording.TrailingExpression(strings.TrimRight(before, ".")), after)
	whole := object + "."
	iterable := whole + property
	if object == "" || !strings.HasSuffix(before, ".") {
		object, whole, iterable = "", "", wording.LeadingExpression(after)
	}
	switch {
	case iterable != "" && iterated.Get().MatchString(strings.TrimSuffix(before, whole)):
		d.Message = iterable + " is undefined or null, and cannot be iterated over"
		if d.Hint = x.absent(d, iterable); d.Hint == "" {
			d.Hint = fmt.Sprintf("write %s ?? [] if it may be missing", iterable)
		}
	case property == "" || object == "":
		d.Hint = wording.Advice(d, before, after)
	default:
		action := "set"
		if strings.HasSuffix(strings.TrimSpace(strings.TrimSuffix(before, whole)), "delete") {
			action = "delete"
		}
		d.Message = fmt.Sprintf("Cannot %s property '%s': %s is undefined or null", action, property, object)
		if d.Hint = x.absent(d, object); d.Hint == "" {
			d.Hint = fmt.Sprintf("give it an object first, or write if (%s) before", object)
		}
	}
}

// changed returns the member that a statement changes, and its object. word is the word at an error's position, before the object
// before it, and after the text from the position on. In patterns and before assignments such as ||= the position is that of the
// object's last part.
func changed(word, before, after string) (property, object string) {
	rest := strings.TrimLeft(after[len(word):], "!")
	switch {
	case word == "" || before == "":
	case strings.HasPrefix(rest, "."):
		if next := wording.LeadingWord(rest[1:]); next != "" {
			return next, before + "." + word
		}
	case strings.HasPrefix(rest, "["):
		return strings.Trim(leadingPart(rest), `[]'"`), before + "." + word
	}
	return word, before
}

// isCall reports whether a message of the interpreter may be that of a call.
func isCall(message string) bool {
	return strings.HasPrefix(message, "Not a function: ") || strings.HasPrefix(message, "Object has no member '") || strings.HasPrefix(message, "Value is not an object: ")
}

// behindCallee reports whether a position between two texts is that of a call behind its callee. In TypeScript, types may follow
// the callee.
func behindCallee(before, after string) bool {
	callee := wording.TrailingExpression(before)
	return callee != "" && (strings.HasPrefix(after, "(") || !strings.HasSuffix(callee, ".") && typed.Get().MatchString(after))
}

// typed matches the text behind a callee if that is a template, or begins with what may precede the call: types, !, a closing
// parenthesis, as, or satisfies.
var typed = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile("^(?:[`<]|[!)]+[(`<.]|\\s+(?:as|satisfies)\\s)") }}

// beginnings are words at which statements and expressions begin.
var beginnings = []string{"new", "const", "let", "var", "for", "return", "await", "yield", "throw", "typeof", "function", "async"}

// iterated matches the code before the object of a loop for … of, of a spread, or of a pattern of elements.
var iterated = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\bfor\b.*\bof\s+$|\.\.\.$|\]\s*=\s*$`) }}

// madeByScript matches the code at an error that the script created.
var madeByScript = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:new\s+)?[\p{L}\w$.]*Error\s*\(`)
}}

// explainOperator sets the message and the hint of an error of an operator or builtin that requires an object. after is the
// rest of the line from the error's position on.
func (x *Explainer) explainOperator(d *diag.Diagnostic, after string) {
	value := strings.TrimPrefix(d.Message, "Value is not an object: ")
	after, _, _ = strings.Cut(after, ";")
	switch {
	case strings.HasPrefix(after, "#"):
		d.Message = fmt.Sprintf("Cannot access private member #%s of %s", wording.LeadingWord(after[1:]), value)
		d.Hint = wording.Advice(d, "", after)
	case strings.HasPrefix(after, "new "):
		object := wording.LeadingExpression(strings.TrimSpace(after[len("new "):]))
		if x.isFunction(object) {
			wording.TakesObject(d, "new "+object, object)
			return
		}
		if object == "" {
			object = "what follows new"
		}
		d.Message = fmt.Sprintf("%s is not a constructor: it is %s", object, value)
		d.Hint = "only classes and functions made with function can follow new"
	case strings.Contains(after, " instanceof "):
		d.Message = fmt.Sprintf("the right side of instanceof is %s, which is no class", value)
		d.Hint = "instanceof takes a class, as in x instanceof Map; for numbers and text write typeof x === 'number'"
	case strings.Contains(after, " in "):
		d.Message = fmt.Sprintf("the right side of in is %s, which is no object", value)
		d.Hint = "for text, write text.includes(part)"
	default:
		d.Message = fmt.Sprintf("an object is wanted here, not %s", value)
		d.Hint = wording.AdviceOnObject
	}
}

// isFunction reports whether an expression such as Object.keys denotes a global function, or a member of a global object that
// is one.
func (x *Explainer) isFunction(expression string) bool {
	o := x.vm.GlobalObject()
	for name := range strings.SplitSeq(expression, ".") {
		next, ok := x.property(o, name).(*goja.Object)
		if !ok || next.ExportType() == typeProxy {
			return false
		}
		o = next
	}
	_, ok := goja.AssertFunction(o)
	return ok
}
