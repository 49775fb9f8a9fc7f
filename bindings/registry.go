// Package bindings is the registry of script names. It records every module, function, class, member and constant with its
// TypeScript signature, help and example. Completion, help(), the .d.ts file and the reference manual are generated from the
// registry. A test fails for an exported name that has no entry. The modules are implemented by the packages below this one.
package bindings

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang"
)

// Kind classifies an entry.
type Kind string

// The kinds of entries.
const (
	Function Kind = "function"
	Class    Kind = "class"
	Object   Kind = "object" // a plain object with members, such as console
	Constant Kind = "constant"
	Method   Kind = "method"
	Property Kind = "property"
)

// Entry documents one name.
type Entry struct {
	Name string
	Kind Kind
	// Signature is the TypeScript signature with the name: "readText(path: string): Promise<string>", "args: readonly
	// string[]", "class URL". Line breaks separate overloads.
	Signature string
	Help      string // one or more sentences; the first is the summary
	Example   string // a complete script; optional for members
	// Members lists the members of a class's instances, of an object, or the properties of a function. A class's constructor
	// is the member named "constructor".
	Members []Entry
	// Static lists the members of the class itself.
	Static []Entry
}

// Summary returns the first sentence of the help.
func (e *Entry) Summary() string {
	if i := strings.Index(e.Help, ". "); i >= 0 {
		return e.Help[:i+1]
	}
	return e.Help
}

// Member returns the instance or static member with a name, or false if there is none.
func (e *Entry) Member(name string) (*Entry, bool) {
	for _, list := range [][]Entry{e.Members, e.Static} {
		for i := range list {
			if list[i].Name == name {
				return &list[i], true
			}
		}
	}
	return nil, false
}

// Module is a module of the engine with its documentation. A module that is not importable documents names without imports,
// such as those of the kernel language.
type Module struct {
	lang.Module
	Help string
	// Types holds the interfaces and type aliases that the signatures refer to, in TypeScript.
	Types string
	// Default names the export that is also the default export. If empty, the default export is an object of all exports.
	Default string
	// Within names the module that declares these types. It is set for a module that scripts cannot import.
	Within string
	// Entries returns the exports with their documentation. A registry calls it once, when they are first needed.
	Entries func() []Entry
}

// Entry returns the export with a name, or false if there is none.
func (m *Module) Entry(name string) (*Entry, bool) {
	list := m.Entries()
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// Registry holds modules in order of registration.
type Registry struct {
	modules []Module
}

// NewRegistry returns a registry of modules. It fails if two modules have the same name or export the same global.
func NewRegistry(modules ...Module) (*Registry, error) {
	r := &Registry{modules: modules}
	names, globals := map[string]bool{}, map[string]string{}
	for i := range modules {
		m := &modules[i]
		if m.Entries == nil {
			m.Entries = func() []Entry { return nil }
		}
		m.Entries = sync.OnceValue(m.Entries)
		if names[m.Name] {
			return nil, fmt.Errorf("two modules are named %q", m.Name)
		}
		names[m.Name] = true
		for _, g := range append(slices.Clip(m.Globals), m.PromptGlobals...) {
			if other := globals[g]; other != "" {
				return nil, fmt.Errorf("modules %q and %q both make %q global", other, m.Name, g)
			}
			globals[g] = m.Name
		}
	}
	return r, nil
}

// Modules returns the modules in order of registration.
func (r *Registry) Modules() []Module { return r.modules }

// Module returns the module with a name, or false if there is none.
func (r *Registry) Module(name string) (*Module, bool) {
	for i := range r.modules {
		if r.modules[i].Name == name {
			return &r.modules[i], true
		}
	}
	return nil, false
}

// Engine returns the importable modules for [lang.Options].
func (r *Registry) Engine() []lang.Module {
	list := make([]lang.Module, 0, len(r.modules))
	for _, m := range r.modules {
		if !m.Importable() {
			continue
		}
		m.Names = func() (names []string) {
			for _, e := range m.Entries() {
				names = append(names, e.Name)
			}
			return names
		}
		list = append(list, m.Module)
	}
	return list
}

// Global returns the entry of a global name and its module, or false if there is none. With prompt set, it includes the
// globals of the prompt.
func (r *Registry) Global(name string, prompt bool) (*Entry, *Module, bool) {
	for i := range r.modules {
		m := &r.modules[i]
		if slices.Contains(m.Globals, name) || prompt && slices.Contains(m.PromptGlobals, name) {
			if e, ok := m.Entry(name); ok {
				return e, m, true
			}
		}
	}
	return nil, nil, false
}

// Lookup returns the entry at a path such as "fs.readText", "setTimeout", "URL.searchParams" or "console.log", with its
// module. For a module's name alone, it returns the module and a nil entry. The result is false if nothing has this path.
func (r *Registry) Lookup(path string) (*Entry, *Module, bool) {
	first, rest, dotted := strings.Cut(strings.TrimSuffix(path, "()"), ".")
	if e, m, ok := r.Global(first, true); ok {
		if !dotted {
			return e, m, true
		}
		if found, ok := descend(e, rest); ok {
			return found, m, true
		}
	}
	m, ok := r.Module(first)
	if !ok {
		return r.anywhere(path)
	}
	if !dotted {
		return nil, m, true
	}
	name, rest, dotted := strings.Cut(rest, ".")
	e, ok := m.Entry(name)
	if !ok {
		return nil, nil, false
	}
	if dotted {
		e, ok = descend(e, rest)
	}
	return e, m, ok
}

// anywhere searches the exports of all modules, then the types that signatures refer to. It returns false if none has the
// path.
func (r *Registry) anywhere(path string) (*Entry, *Module, bool) {
	first, rest, dotted := strings.Cut(path, ".")
	for i := range r.modules {
		if e, ok := r.modules[i].Entry(first); ok {
			if dotted {
				e, ok = descend(e, rest)
			}
			return e, &r.modules[i], ok
		}
	}
	e, m, ok := r.Type(first)
	if ok && dotted {
		e, ok = descend(e, rest)
	}
	return e, m, ok
}

// Type returns the interface or type alias with a name, and its module, or false if there is none.
func (r *Registry) Type(name string) (*Entry, *Module, bool) {
	for i := range r.modules {
		list := r.modules[i].TypeEntries()
		for at := range list {
			if list[at].Name == name {
				return &list[at], &r.modules[i], true
			}
		}
	}
	return nil, nil, false
}

// Keys returns the property names of a type Record<Name, …>, where Name is an alias of a union of literals. It returns nil
// for other types.
func (r *Registry) Keys(typ string) []string {
	record, ok := strings.CutPrefix(typ, "Record<")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(record, ",")
	e, _, ok := r.Type(name[strings.LastIndexByte(name, '.')+1:])
	if !ok || e.Kind != Alias {
		return nil
	}
	_, literals, _ := strings.Cut(e.Signature, " = ")
	var keys []string
	for _, v := range Values(literals) {
		keys = append(keys, strings.Trim(v, "'"))
	}
	return keys
}

// Paths returns the sorted paths that end in a name, as suggestions for a failed lookup such as help('launch').
func (r *Registry) Paths(name string) []string {
	var paths []string
	var add func(prefix string, list []Entry)
	add = func(prefix string, list []Entry) {
		for i := range list {
			if list[i].Name == name {
				paths = append(paths, prefix+name)
			}
			add(prefix+list[i].Name+".", list[i].Members)
			add(prefix+list[i].Name+".", list[i].Static)
		}
	}
	for i := range r.modules {
		m := &r.modules[i]
		add("", m.Entries())
		add("", m.TypeEntries())
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func descend(e *Entry, path string) (*Entry, bool) {
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		if name == "prototype" {
			continue
		}
		var ok bool
		if e, ok = e.Member(name); !ok {
			return nil, false
		}
	}
	return e, true
}

// Names returns the paths of all modules, exports with their modules, globals, types and members, sorted. Lookup accepts these, and
// also exports without their modules.
func (r *Registry) Names() []string {
	var names []string
	var add func(prefix string, list []Entry)
	add = func(prefix string, list []Entry) {
		for i := range list {
			names = append(names, prefix+list[i].Name)
			add(prefix+list[i].Name+".", list[i].Members)
			add(prefix+list[i].Name+".", list[i].Static)
		}
	}
	for i := range r.modules {
		m := &r.modules[i]
		names = append(names, m.Name)
		add(m.Name+".", m.Entries())
		add("", m.TypeEntries())
		for _, g := range append(slices.Clip(m.Globals), m.PromptGlobals...) {
			if e, ok := m.Entry(g); ok {
				add("", []Entry{*e})
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
