package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/wording"
)

// explain extends the interpreter's messages by the failing expression and a hint. The interpreter reports values and
// positions; explain reads the expression from the source line.
func (e *Engine) explain(d *diag.Diagnostic) {
	if d.Excerpt == nil || d.Hint != "" {
		return
	}
	line := []rune(d.Excerpt.Lines[len(d.Excerpt.Lines)-1])
	at := min(max(d.Column-1, 0), len(line))
	before, after := string(line[:at]), string(line[at:])
	message := d.Message
	switch name := d.Name; {
	case madeByScript().MatchString(after):
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
		e.explainCall(d, wording.TrailingExpression(before))
	case strings.HasPrefix(message, "Value is not an object: ") && strings.HasPrefix(after, "(") && e.isFunction(wording.TrailingExpression(before)):
		callee := wording.TrailingExpression(before)
		wording.TakesObject(d, callee, callee[strings.LastIndexByte(callee, '.')+1:])
	case strings.HasPrefix(message, "Object has no member '"), strings.HasPrefix(message, "Value is not an object: ") && strings.HasPrefix(after, "(") && wording.TrailingExpression(before) != "":
		e.explainCall(d, wording.TrailingExpression(before))
	case strings.HasPrefix(message, "Value is not an object: "):
		e.explainOperator(d, after)
	case strings.HasPrefix(message, "Cannot read property '"):
		object := strings.TrimRight(wording.TrailingExpression(strings.TrimRight(before, ".?[")), "!")
		if i := strings.Index(after, "]."); strings.HasPrefix(after, "[") && i > 0 && strings.Count(after[:i], "[") == 1 {
			object += after[:i+1] // the interpreter reports the first bracket as the position of a[0].f()
		}
		if object == "" || object == "null" || object == "undefined" {
			if object != "" {
				d.Message = strings.TrimSuffix(message, "undefined") + object
			}
			d.Hint = wording.Advice(d, before, after)
			return
		}
		// The interpreter reports null as undefined, too.
		d.Message = fmt.Sprintf("%s: %s is undefined or null", strings.TrimSuffix(message, " of undefined"), object)
		if d.Hint = e.hintForAwait(d, object); d.Hint == "" {
			d.Hint = fmt.Sprintf("write %s?. if it may be missing", object)
		}
	case message == "Cannot convert undefined or null to object":
		property, object := wording.LeadingWord(after), wording.TrailingExpression(strings.TrimRight(before, "."))
		if property != "" && object != "" && strings.HasSuffix(before, ".") {
			d.Message = fmt.Sprintf("Cannot set property '%s': %s is undefined or null", property, object)
			if d.Hint = e.hintForAwait(d, object); d.Hint == "" {
				d.Hint = fmt.Sprintf("give it an object first, or write if (%s) before", object)
			}
		} else {
			d.Hint = wording.Advice(d, before, after)
		}
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
			d.Hint = e.hintForAwait(d, object)
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
		case e.esm.graph.Imports(d.File, word):
			d.Message, d.Hint = word+" is imported and cannot be assigned", "only the module that exports it assigns it; keep another value in a variable of your own"
		default:
			d.Message, d.Hint = word+" is a constant and cannot be assigned", fmt.Sprintf("declare it with let %s", word)
		}
	default:
		d.Hint = wording.Advice(d, before, after)
	}
}

// beginnings are words at which statements and expressions begin.
var beginnings = []string{"new", "const", "let", "var", "for", "return", "await", "yield", "throw", "typeof"}

// madeByScript matches the code at an error that the script created.
var madeByScript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:new\s+)?[\p{L}\w$.]*Error\s*\(`)
})

// explainCall explains a call of a value that is not a function. The reported position is that of the parenthesis.
func (e *Engine) explainCall(d *diag.Diagnostic, callee string) {
	if callee == "" {
		return
	}
	if value, ok := strings.CutPrefix(d.Message, "Not a function: "); ok {
		class := strings.TrimSuffix(strings.TrimPrefix(value, "[object "), "]")
		if method := e.methodOf(class); class != value && method != "" {
			d.Message = fmt.Sprintf("%s is not a function: it is a %s", callee, class)
			d.Hint = fmt.Sprintf("did you mean %s.%s?", callee, method)
			if class == "Kernel" {
				d.Hint = fmt.Sprintf("write %s.launch({ size: … }, …)", callee)
			}
		} else {
			d.Message = callee + " is not a function: it is " + value
		}
	} else if _, value, ok := strings.Cut(d.Message, "not an object: "); ok {
		d.Message = fmt.Sprintf("%s is not a function: it is %s", callee, value)
	} else {
		d.Message = callee + " is not a function"
	}
	if strings.HasSuffix(callee, ")") {
		d.Message = strings.Replace(d.Message, callee+" is not", "what "+callee+" gives is not", 1)
	}
	width := len([]rune(callee))
	if len(d.Stack) > 0 && d.Stack[0].Position == d.Position {
		d.Stack[0].Column -= width
	}
	d.Column, d.Excerpt.Width = d.Column-width, width
	if d.Hint != "" {
		return
	}
	if dot := strings.LastIndexByte(callee, '.'); dot >= 0 {
		object, method := callee[:dot], callee[dot+1:]
		class := e.report.missing.class
		if e.report.missing.member != method {
			class = e.classOf(d, object)
		}
		if class == "Promise" {
			kind := "is"
			if strings.HasSuffix(object, ")") {
				kind = "returns"
			}
			d.Hint = fmt.Sprintf("it %s a promise: write (await %s).%s(…)", kind, object, method)
			return
		}
		if class != "" {
			d.Hint = e.hintForMember(class, object, method)
			return
		}
		if class := e.classOf(d, object+"()"); slices.Contains(e.classMembers(class), method) {
			args := "" // right for device; a kernel takes a function
			if class == "Kernel" {
				args = "…"
			}
			d.Hint = fmt.Sprintf("%s is a function that returns a %s: write %[1]s(%[3]s).%[4]s(…)", object, class, args, method)
			return
		}
		if givesPromise().MatchString(object) {
			d.Hint = fmt.Sprintf("it returns a promise: write (await %s).%s(…)", object, method)
			return
		}
		if d.Hint = arrayHint(e, d.File, object, method); d.Hint != "" {
			return
		}
		if hint := e.nameHabit(method); hint != "" && (e.esm.builtins[object] != nil || e.habit(habits.NodeModules(), object) != "") {
			d.Hint = hint
		} else if near := spelling.Nearest(method, e.memberNames(object)); near != "" && near != method {
			d.Hint = fmt.Sprintf("did you mean %s.%s?", object, near)
		} else if d.Hint = e.hintForAwait(d, object); d.Hint == "" && strings.HasSuffix(d.Message, " is not a function") {
			d.Hint = habits.Member("", object, method)
		}
	}
	switch {
	case d.Hint != "":
	case strings.HasSuffix(callee, ")"):
		d.Hint = "does the function return one in every case?"
	case strings.HasSuffix(d.Message, " is not a function"): // the object has no such member
		if d.Hint = habits.Member("", "x", callee[strings.LastIndexByte(callee, '.')+1:]); d.Hint != "" {
			break
		}
		d.Hint = fmt.Sprintf("there is no %s: console.log shows what the object has", callee[strings.LastIndexByte(callee, '.')+1:])
	default:
		d.Hint = fmt.Sprintf("write %s without parentheses if a value is meant; console.log(%[1]s) shows it", callee)
	}
}

// methodOf returns the first method of a class that a builtin module exports. The first one is the main method.
func (e *Engine) methodOf(class string) string {
	if members := e.classMembers(class); len(members) > 0 {
		return members[0]
	}
	return ""
}

// classOf guesses the builtin class of an expression from its initializer; it returns "" if unknown.
func (e *Engine) classOf(d *diag.Diagnostic, expression string) string {
	if o, ok := e.property(e.vm.GlobalObject(), expression).(*goja.Object); ok { // defined at a prompt
		if class := e.inspector.ClassName(o); len(e.classMembers(class)) > 0 {
			return class
		}
	}
	made := expression
	if !strings.Contains(expression, "(") {
		text, _ := e.report.sources.get(d.File)
		made = wording.DeclaredBy(text, expression)
	}
	for _, m := range makers() {
		if m.made.MatchString(made) && len(e.classMembers(m.class)) > 0 {
			return m.class
		}
	}
	return ""
}

// classMembers returns the members of a class that a builtin module exports.
func (e *Engine) classMembers(class string) []string {
	for _, b := range e.esm.builtins {
		if b.exports == nil || class == "" {
			continue
		}
		ctor, _ := e.property(b.exports, class).(*goja.Object)
		if ctor == nil {
			continue
		}
		if proto, ok := e.property(ctor, "prototype").(*goja.Object); ok && proto.ExportType() != typeProxy {
			return slices.DeleteFunc(proto.GetOwnPropertyNames(), func(name string) bool { return name == "constructor" })
		}
	}
	return nil
}

// mostListed is the maximum number of members that a hint lists.
const mostListed = 30

// hintForMember returns a hint for a method that a builtin class lacks.
func (e *Engine) hintForMember(class, object, method string) string {
	members := e.classMembers(class)
	if slices.Contains(members, method) {
		return fmt.Sprintf("write %s.%s without parentheses", object, method)
	}
	if hint := habits.Member(class, object, method); hint != "" {
		return hint
	}
	if near := spelling.Nearest(method, members); near != "" && near != method {
		return fmt.Sprintf("did you mean %s.%s?", object, near)
	}
	list, _ := e.property(e.vm.GlobalObject(), "Array").(*goja.Object)
	if proto, _ := e.property(list, "prototype").(*goja.Object); class == "Buffer" && proto != nil && slices.Contains(proto.GetOwnPropertyNames(), method) {
		return fmt.Sprintf("the elements of a buffer are on its device: write (await %s.read()).%s(…)", object, method)
	}
	if len(members) > mostListed {
		return fmt.Sprintf("orepl help %s lists what %s has", class, withArticle(class))
	}
	return fmt.Sprintf("%s has %s", withArticle(class), strings.Join(members, ", "))
}

// memberNames returns the members of a global object; for any other expression, those of the common classes.
func (e *Engine) memberNames(object string) []string {
	global := e.vm.GlobalObject()
	if o, ok := e.property(global, object).(*goja.Object); ok && o.ExportType() != typeProxy {
		return o.GetOwnPropertyNames()
	}
	var names []string
	for _, class := range []string{"Array", "String", "Map", "Set", "Promise", "Float32Array", "Number", "Date", "RegExp"} {
		if c, ok := e.property(global, class).(*goja.Object); ok {
			for o, _ := e.property(c, "prototype").(*goja.Object); o != nil && o.ExportType() != typeProxy; o = o.Prototype() {
				names = append(names, o.GetOwnPropertyNames()...)
			}
		}
	}
	return names
}

// explainOperator explains errors of operators and builtins that require an object.
func (e *Engine) explainOperator(d *diag.Diagnostic, after string) {
	value := strings.TrimPrefix(d.Message, "Value is not an object: ")
	after, _, _ = strings.Cut(after, ";")
	switch {
	case strings.HasPrefix(after, "new "):
		object := wording.LeadingExpression(strings.TrimSpace(after[len("new "):]))
		if e.isFunction(object) {
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

// isFunction reports whether an expression of names is a function that every script has.
func (e *Engine) isFunction(expression string) bool {
	o := e.vm.GlobalObject()
	for name := range strings.SplitSeq(expression, ".") {
		next, ok := e.property(o, name).(*goja.Object)
		if !ok || next.ExportType() == typeProxy {
			return false
		}
		o = next
	}
	_, ok := goja.AssertFunction(o)
	return ok
}
