package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/habits"
)

// ForeignType returns the element type for its name in another language, such as f32 for "float", and "" for other names.
func ForeignType(name string) string { return habits.Types()[name] }

// typeHabit returns a hint that names the element type, or "".
func (e *Engine) typeHabit(name string) string {
	if own := ForeignType(name); own != "" && e.esm.builtins["offload"] != nil {
		return fmt.Sprintf("the type is called %s: import { %[1]s } from 'offload'", own)
	}
	return ""
}

// A maker is a pattern of expressions whose value has a class of the module 'offload'.
type maker struct {
	made  *regexp.Regexp
	class string
}

// makers are tried in order, because the arguments of a launch may create a buffer.
var makers = sync.OnceValue(func() (list []maker) {
	for _, m := range [][2]string{
		{`^[\p{L}\w$.]*\.(?:launch|record)\(`, "Event"}, {`^[\p{L}\w$.]*\.bind\(`, "BoundLaunch"}, {`^(?:offload\.)?pool\(`, "Pool"}, {`^(?:offload\.)?kernel\(`, "Kernel"}, {`\.createQueue\([^()]*\)$|\.queue$`, "Queue"},
		{`\.(?:buffer|view)\((?:[^()]|\([^()]*\))*\)(?:\.(?:fill|write)\((?:[^()]|\([^()]*\))*\))?$`, "Buffer"}, {`^(?:offload\.)?(?:device\([^()]*\)|devices\(\)\[\d+\])$`, "Device"},
	} {
		list = append(list, maker{regexp.MustCompile(m[0]), m[1]})
	}
	return list
})

// givesPromise matches calls of methods that return promises.
var givesPromise = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:read|readRect|readText|readJSON|readBytes|readCSV|readNPY|readImage|sync|unregister)\([^()]*\)$`)
})

// moduleHabit returns the hint for a Node module, or "".
func (e *Engine) moduleHabit(specifier string) string {
	name := strings.TrimPrefix(specifier, "node:")
	first, _, _ := strings.Cut(name, "/")
	if e.esm.builtins[first] != nil && first != specifier {
		return fmt.Sprintf("write '%s', without the rest; help('%[1]s') lists its names, which are not all those of Node", first)
	}
	if hint := e.habit(habits.NodeModules(), first); hint != "" {
		return hint
	}
	if name != specifier {
		return "this is no Node: the modules are " + strings.Join(e.ModuleNames(), ", ")
	}
	return ""
}

// nameHabit returns the hint for a foreign name, or "".
func (e *Engine) nameHabit(name string) string { return e.habit(habits.Names(), name) }

func (e *Engine) habit(table map[string]habits.Habit, name string) string {
	h, known := table[name]
	if !known || h.Module != "" && e.esm.builtins[h.Module] == nil {
		return ""
	}
	return h.Hint
}

// importOf returns the import statement that declares a name, or "".
func (e *Engine) importOf(name string) string {
	for _, module := range e.ModuleNames() {
		b := e.esm.builtins[module]
		switch {
		case slices.Contains(b.Names, name), b.exports != nil && b.exports.Get(name) != nil:
			return fmt.Sprintf("import { %s } from '%s'", name, module)
		case module == name:
			return fmt.Sprintf("import %s from '%[1]s'", name)
		}
	}
	return ""
}

// arrayHint returns a hint for a name that the module 'array' lacks, which may be called object in a file, or "".
func arrayHint(e *Engine, file, object, name string) string {
	text, _ := e.report.sources.get(file)
	if e.esm.builtins["array"] == nil || object != "array" && !strings.Contains(text, "* as "+object+" from 'array'") {
		return ""
	}
	return habits.Array(name, slices.Contains(e.classMembers("Buffer"), name), slices.Contains(e.classMembers("Device"), name))
}
