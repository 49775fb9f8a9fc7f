// Package bindings is the registry of script names: every module, function, class, member and constant, with
// its TypeScript signature, help and example. Completion, help(), the .d.ts file and the reference manual are made from
// it. A test fails for a name that a module exports without an entry here. The modules themselves are the packages
// below this one.
package bindings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang"
)

// Kind is the kind of an entry.
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
	// Signature is TypeScript, with the name: "readText(path: string): Promise<string>", "args: readonly string[]",
	// "class URL". Overloads are separated by line ends.
	Signature string
	Help      string // a sentence or more; the first sentence is the summary
	Example   string // a script that runs; may be empty for members that need no example
	// Members are those of a class's objects, of an object, or properties of a function. The constructor of a class is
	// the member named "constructor".
	Members []Entry
	// Static are the members of a class itself.
	Static []Entry
}

// Summary returns the first sentence of the help.
func (e *Entry) Summary() string {
	if i := strings.Index(e.Help, ". "); i >= 0 {
		return e.Help[:i+1]
	}
	return e.Help
}

// Member finds a member, or a static one, by name.
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

// Module is a module of the engine with its documentation. Without the function Instantiate it documents names that
// scripts do not import, such as those of the kernel language.
type Module struct {
	lang.Module
	Help string
	// Types is TypeScript that the signatures refer to: interfaces and type aliases.
	Types string
	// Default names the export that is the default export too; empty: all exports as one object.
	Default string
	// Within is the module whose types these are, for names that scripts do not import.
	Within  string
	Entries []Entry
}

// Entry finds an export by name.
func (m *Module) Entry(name string) (*Entry, bool) {
	for i := range m.Entries {
		if m.Entries[i].Name == name {
			return &m.Entries[i], true
		}
	}
	return nil, false
}

// Registry holds modules in the order in which they were given.
type Registry struct {
	modules []Module
}

// NewRegistry makes a registry. Two modules may not have one name, and two globals neither.
func NewRegistry(modules ...Module) (*Registry, error) {
	r := &Registry{modules: modules}
	names, globals := map[string]bool{}, map[string]string{}
	for _, m := range modules {
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

// Modules lists the modules.
func (r *Registry) Modules() []Module { return r.modules }

// Module finds a module by name.
func (r *Registry) Module(name string) (*Module, bool) {
	for i := range r.modules {
		if r.modules[i].Name == name {
			return &r.modules[i], true
		}
	}
	return nil, false
}

// Engine returns the modules for [lang.Options].
func (r *Registry) Engine() []lang.Module {
	list := make([]lang.Module, 0, len(r.modules))
	for _, m := range r.modules {
		if !m.Importable() {
			continue
		}
		for _, e := range m.Entries {
			m.Names = append(m.Names, e.Name)
		}
		list = append(list, m.Module)
	}
	return list
}

// Global finds the entry of a global name; prompt says whether the names that only a prompt has count.
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

// Lookup finds an entry by a path as a person writes it: "fs", "fs.readText", "setTimeout", "URL.searchParams",
// "console.log". For a module's name alone it returns the module and no entry.
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

// anywhere finds an export of any module, for names that are not global, or a type that signatures refer to.
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

// Type finds an interface or type alias that signatures refer to.
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

// Keys lists the properties that a type Record<Name, …> has, where Name is an alias of literals.
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

// Paths returns the sorted paths whose last name is the argument: candidates for a person who asks for "launch".
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
		add("", m.Entries)
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

// Names lists every path that Lookup knows, sorted.
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
		add(m.Name+".", m.Entries)
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
