package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/wording"
)

// explainCall explains a call of a value that is not a function. It moves the position from the call's parenthesis to the callee. It does
// nothing if callee, the text before the parenthesis, is empty.
func (x *Explainer) explainCall(d *diag.Diagnostic, callee string) {
	if callee == "" {
		return
	}
	width := len([]rune(callee))
	callee = calledBy(callee)
	if value, ok := strings.CutPrefix(d.Message, "Not a function: "); ok {
		class := strings.TrimSuffix(strings.TrimPrefix(value, "[object "), "]")
		if method := x.methodOf(class); class != value && method != "" {
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
	if strings.HasSuffix(callee, ")") && !isEnclosed(callee) {
		d.Message = strings.Replace(d.Message, callee+" is not", "what "+callee+" returns is not", 1)
	}
	if len(d.Stack) > 0 && d.Stack[0].Position == d.Position {
		d.Stack[0].Column -= width
	}
	d.Column, d.Excerpt.Width = d.Column-width, width
	if d.Hint != "" {
		return
	}
	if dot := strings.LastIndexByte(callee, '.'); dot >= 0 {
		object, method := strings.TrimSuffix(callee[:dot], "?"), callee[dot+1:]
		class := x.missing.class
		if x.missing.member != method {
			class = x.classOf(d, object)
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
			d.Hint = x.hintForMember(class, object, method)
			return
		}
		if class := x.classOf(d, object+"()"); slices.Contains(x.classMembers(class), method) {
			args := "" // right for device; a kernel takes a function
			if class == "Kernel" {
				args = "…"
			}
			d.Hint = fmt.Sprintf("%s is a function that returns a %s: write %[1]s(%[3]s).%[4]s(…)", object, class, args, method)
			return
		}
		if givesPromise.Get().MatchString(object) {
			d.Hint = fmt.Sprintf("it returns a promise: write (await %s).%s(…)", object, method)
			return
		}
		if d.Hint = x.arrayHint(d.File, object, method); d.Hint != "" {
			return
		}
		if hint := x.nameHint(method); hint != "" && (x.has(object) || x.habit(habits.NodeModules.Get(), object) != "") {
			d.Hint = hint
		} else if near := spelling.Nearest(method, x.memberNames(object)); near != "" && near != method {
			d.Hint = fmt.Sprintf("did you mean %s.%s?", object, near)
		} else if d.Hint = x.Await(d, object); d.Hint == "" && strings.HasSuffix(d.Message, " is not a function") {
			d.Hint = habits.Member("", object, method)
		}
	}
	switch {
	case d.Hint != "":
	case strings.HasSuffix(callee, ")") && !isEnclosed(callee):
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

// plainMember matches names, members and indices, which need no parentheses.
var plainMember = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_$][\pL\d_$.?\[\]]*$`) }}

// calledBy returns the called expression in the text before a call's parenthesis, without the ?. of an optional call. It also
// removes parentheses around a name, a member or an index, and all but one pair around another expression.
func calledBy(text string) string {
	text = strings.TrimSuffix(text, "?.")
	for isEnclosed(text) {
		inner := strings.TrimSpace(text[1 : len(text)-1])
		if !isEnclosed(inner) && !plainMember.Get().MatchString(inner) {
			break
		}
		text = inner
	}
	return text
}

// isEnclosed reports whether one pair of parentheses encloses a text. It also counts parentheses in strings.
func isEnclosed(text string) bool {
	if !strings.HasPrefix(text, "(") {
		return false
	}
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i == len(text)-1
		}
	}
	return false
}

// methodOf returns the main method of a class that a builtin module exports, which is its first one. It returns "" if there
// is no such class.
func (x *Explainer) methodOf(class string) string {
	if members := x.classMembers(class); len(members) > 0 {
		return members[0]
	}
	return ""
}

// classOf guesses the builtin class of an expression from its initializer; it returns "" if unknown.
func (x *Explainer) classOf(d *diag.Diagnostic, expression string) string {
	if o, ok := x.property(x.vm.GlobalObject(), expression).(*goja.Object); ok { // defined at a prompt
		if class := x.inspector.ClassName(o); len(x.classMembers(class)) > 0 {
			return class
		}
	}
	made := expression
	if !strings.Contains(expression, "(") {
		text, _ := x.known.SourceText(d.File)
		made = wording.DeclaredBy(text, expression)
	}
	for _, m := range makers.Get() {
		if m.made.MatchString(made) && len(x.classMembers(m.class)) > 0 {
			return m.class
		}
	}
	return ""
}

// classMembers returns the members of a class that a builtin module exports, or nil if there is no such class.
func (x *Explainer) classMembers(class string) []string {
	if class == "" {
		return nil
	}
	for _, module := range x.known.ModuleNames() {
		exports, _, _ := x.known.Module(module)
		if exports == nil {
			continue
		}
		ctor, _ := x.property(exports, class).(*goja.Object)
		if ctor == nil {
			continue
		}
		if proto, ok := x.property(ctor, "prototype").(*goja.Object); ok && proto.ExportType() != typeProxy {
			return slices.DeleteFunc(proto.GetOwnPropertyNames(), func(name string) bool { return name == "constructor" })
		}
	}
	return nil
}

// mostListed is the maximum number of members that a hint lists.
const mostListed = 30

// hintForMember returns a hint for a wrong use of a member of a builtin class: how it is written, or another member if the
// class lacks it.
func (x *Explainer) hintForMember(class, object, method string) string {
	members := x.classMembers(class)
	if slices.Contains(members, method) {
		return fmt.Sprintf("write %s.%s without parentheses", object, method)
	}
	if hint := habits.Member(class, object, method); hint != "" {
		return hint
	}
	if near := spelling.Nearest(method, members); near != "" && near != method {
		return fmt.Sprintf("did you mean %s.%s?", object, near)
	}
	list, _ := x.property(x.vm.GlobalObject(), "Array").(*goja.Object)
	if proto, _ := x.property(list, "prototype").(*goja.Object); class == "Buffer" && proto != nil && slices.Contains(proto.GetOwnPropertyNames(), method) {
		return fmt.Sprintf("the elements of a buffer are on its device: write (await %s.read()).%s(…)", object, method)
	}
	if len(members) > mostListed {
		return fmt.Sprintf("orepl help %s lists what %s has", class, wording.WithArticle(class))
	}
	return fmt.Sprintf("%s has %s", wording.WithArticle(class), strings.Join(members, ", "))
}

// memberNames returns the members of a global object; for any other expression, those of the common classes.
func (x *Explainer) memberNames(object string) []string {
	global := x.vm.GlobalObject()
	if o, ok := x.property(global, object).(*goja.Object); ok && o.ExportType() != typeProxy {
		return o.GetOwnPropertyNames()
	}
	var names []string
	for _, class := range []string{"Array", "String", "Map", "Set", "Promise", "Float32Array", "Number", "Date", "RegExp"} {
		if c, ok := x.property(global, class).(*goja.Object); ok {
			for o, _ := x.property(c, "prototype").(*goja.Object); o != nil && o.ExportType() != typeProxy; o = o.Prototype() {
				names = append(names, o.GetOwnPropertyNames()...)
			}
		}
	}
	return names
}

// A maker is a pattern of expressions whose value has a class of the module 'offload'.
type maker struct {
	made  *regexp.Regexp
	class string
}

// makers are tried in order, because the arguments of a launch may create a buffer.
var makers = later.Value[[]maker]{Make: func() (list []maker) {
	for _, m := range [][2]string{
		{`^[\p{L}\w$.]*\.(?:launch|record)\(`, "Event"}, {`^[\p{L}\w$.]*\.bind\(`, "BoundLaunch"}, {`^(?:offload\.)?pool\(`, "Pool"}, {`^(?:offload\.)?kernel\(`, "Kernel"}, {`\.createQueue\([^()]*\)$|\.queue$`, "Queue"},
		{`\.(?:buffer|view)\((?:[^()]|\([^()]*\))*\)(?:\.(?:fill|write)\((?:[^()]|\([^()]*\))*\))?$`, "Buffer"}, {`^(?:offload\.)?(?:device\([^()]*\)|devices\(\)\[\d+\])$`, "Device"},
	} {
		list = append(list, maker{regexp.MustCompile(m[0]), m[1]})
	}
	return list
}}

// givesPromise matches calls of methods that return promises.
var givesPromise = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:read|readRect|readText|readJSON|readBytes|readCSV|readNPY|readImage|sync|unregister)\([^()]*\)$`)
}}
