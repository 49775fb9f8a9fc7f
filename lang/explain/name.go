package explain

import (
	"cmp"
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

// declarations matches declared names, accurately enough for hints.
var declarations = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:const|let|var|function|class)\s+([\p{L}\w$]+)`)
}}

// Name adds a hint to the error of an unknown name, such as a similar name. If the reported position is that of a call's
// parenthesis behind the name, Name moves it to the name.
func (x *Explainer) Name(d *diag.Diagnostic) {
	name, ok := strings.CutSuffix(d.Message, " is not defined")
	if !ok || d.Hint != "" {
		return
	}
	if d.Excerpt != nil {
		line := []rune(d.Excerpt.Lines[len(d.Excerpt.Lines)-1])
		if at := d.Column - 1; at <= len(line) && strings.HasSuffix(string(line[:at]), name) {
			d.Column -= len([]rune(name))
			d.Excerpt.Width = len([]rune(name))
		}
	}
	for _, hint := range []string{x.nameHint(name), x.typeHint(name), x.importOf(name)} {
		if hint != "" {
			d.Hint = hint
			return
		}
	}
	isMath := func(name string) bool {
		o, ok := x.property(x.vm.GlobalObject(), "Math").(*goja.Object)
		return ok && x.property(o, name) != nil
	}
	if x.has("offload") {
		if d.Hint = habits.Name(name, isMath); d.Hint != "" {
			return
		}
	}
	candidates := x.vm.GlobalObject().GetOwnPropertyNames()
	text, _ := x.known.SourceText(d.File)
	for _, m := range declarations.Get().FindAllStringSubmatch(text, -1) {
		candidates = append(candidates, m[1])
	}
	if near := spelling.Nearest(name, candidates); near != "" {
		d.Hint = fmt.Sprintf("did you mean %s?", near)
	}
}

// typeHint returns a hint for the name of an element type in another language, or "".
func (x *Explainer) typeHint(name string) string {
	if own := habits.Types.Get()[name]; own != "" && x.has("offload") {
		return fmt.Sprintf("the type is called %s: import { %[1]s } from 'offload'", own)
	}
	return ""
}

// Module returns a hint for the specifier of a module that does not exist, or "".
func (x *Explainer) Module(specifier string) string {
	name := strings.TrimPrefix(specifier, "node:")
	first, _, _ := strings.Cut(name, "/")
	if x.has(first) && first != specifier {
		return fmt.Sprintf("write '%s', without the rest; help('%[1]s') lists its names, which are not all those of Node", first)
	}
	if hint := x.habit(habits.NodeModules.Get(), first); hint != "" {
		return hint
	}
	if name != specifier {
		return "this is no Node: the modules are " + strings.Join(x.known.ModuleNames(), ", ")
	}
	return ""
}

// nameHint returns the hint for a foreign name, or "".
func (x *Explainer) nameHint(name string) string { return x.habit(habits.Names.Get(), name) }

// habit returns the hint of a name in a table. It returns "" if there is none, or if the hint is about a module that is missing.
func (x *Explainer) habit(table map[string]habits.Habit, name string) string {
	h, known := table[name]
	if !known || h.Module != "" && !x.has(h.Module) {
		return ""
	}
	return h.Hint
}

// importOf returns the import statement that declares a name, or "".
func (x *Explainer) importOf(name string) string {
	for _, module := range x.known.ModuleNames() {
		exports, declared, _ := x.known.Module(module)
		switch {
		case declared != nil && slices.Contains(declared(), name), exports != nil && exports.Get(name) != nil:
			return fmt.Sprintf("import { %s } from '%s'", name, module)
		case module == name:
			return fmt.Sprintf("import %s from '%[1]s'", name)
		}
	}
	return ""
}

// Elsewhere returns a hint for a name that a module's exports lack and that is found elsewhere, or "".
func (x *Explainer) Elsewhere(exports *goja.Object, name string) string {
	if hint := cmp.Or(x.nameHint(name), x.importOf(name)); hint != "" {
		return hint
	}
	if arrays, _, known := x.known.Module("array"); known && arrays == exports {
		return x.arrayHint("", "array", name)
	}
	return ""
}

// arrayHint returns a hint for a name that the module 'array' lacks, which may be called object in a file, or "".
func (x *Explainer) arrayHint(file, object, name string) string {
	text, _ := x.known.SourceText(file)
	if !x.has("array") || object != "array" && !strings.Contains(text, "* as "+object+" from 'array'") {
		return ""
	}
	return habits.Array(name, slices.Contains(x.classMembers("Buffer"), name), slices.Contains(x.classMembers("Device"), name))
}

// called matches an initializer that may return a promise.
var called = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^(?:new\s+Promise\b|[\p{L}\w$][\p{L}\w$.!?]*[[(])`) }}

// Await returns a hint to await an expression: a call that is known to return a promise, or a variable that may hold one. For
// others it returns "".
func (x *Explainer) Await(d *diag.Diagnostic, expression string) string {
	if end := strings.IndexByte(expression, ')') + 1; end > 0 { // a call on a variable that is not a promise may return one
		if givesPromise.Get().MatchString(expression[:end]) {
			return fmt.Sprintf("it returns a promise: write (await %s)%s", expression[:end], expression[end:])
		}
		return ""
	}
	name := wording.LeadingWord(expression)
	if name == "" {
		return ""
	}
	text, _ := x.known.SourceText(d.File)
	class := x.classOf(d, name)
	if made := wording.DeclaredBy(text, name); called.Get().MatchString(made) && !strings.HasPrefix(made, "await") && !strings.Contains(made, "=>") && (class == "" || class == "Promise") {
		return fmt.Sprintf("if %s is a promise, write: %s = await %s", name, name, made)
	}
	if o, ok := x.property(x.vm.GlobalObject(), name).(*goja.Object); ok && o.ExportType() == typePromise { // declared by an earlier prompt line
		return fmt.Sprintf("%s is a promise: write (await %s)", name, name)
	}
	return ""
}
