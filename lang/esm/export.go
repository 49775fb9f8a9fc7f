package esm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
)

// A missingExport reports a name that a module does not export.
type missingExport struct {
	name, near string
	has        []string // exported names
	elsewhere  string   // replacement to suggest for a known foreign name
	ambiguous  bool     // several of its "export *" statements lead to different exports of the name
}

func (m *missingExport) Error() string {
	if m.ambiguous {
		return fmt.Sprintf("exports different things named %q by several \"export *\"", m.name)
	}
	return fmt.Sprintf("has no export named %q", m.name)
}
func (m *missingExport) Code() string { return "not-found" }
func (m *missingExport) Hint() string {
	switch n := len(m.has); {
	case m.ambiguous:
		return fmt.Sprintf("say which: export { %s } from './file.js'", m.name)
	case m.elsewhere != "":
		return m.elsewhere
	case m.near != "":
		return fmt.Sprintf("did you mean %q?", m.near)
	case n == 0:
		return "it exports nothing; import './file.js' without names runs it"
	case n > mostNames:
		return "it exports " + strings.Join(m.has[:mostNames], ", ") + ", …"
	case n > fewNames:
		return "it exports " + strings.Join(m.has, ", ")
	}
	return fmt.Sprintf("it exports %s: write import { %[1]s }", strings.Join(m.has, ", "))
}

func missing(name string, has []string) *missingExport {
	return &missingExport{name: name, near: spelling.Nearest(name, has), has: has}
}

const (
	mostNames = 40 // maximum number of names in a hint
	fewNames  = 4  // maximum number of names for which a hint shows an import
)

// A resolution is an export whose declaration is being looked for.
type resolution struct {
	module *Module
	name   string
}

// exportOf returns the cell of an export and follows re-exports. The name "*" is the namespace. visited holds the exports that
// led to this one; it is nil for a new search.
func (g *Graph) exportOf(m *Module, name string, visited map[resolution]bool) (*cell, error) {
	if name == "*" {
		return &cell{value: g.Namespace(m), from: resolution{m, name}}, nil
	}
	if m.builtin != nil {
		if v := m.builtin.Get(name); v != nil {
			return &cell{value: v, from: resolution{m, name}}, nil
		}
		lacks := missing(name, m.builtin.Keys())
		lacks.elsewhere = g.host.Elsewhere(m.builtin, name)
		return nil, lacks
	}
	if c := m.cells[name]; c != nil {
		return c, nil
	}
	if m.Unit == nil || visited[resolution{m, name}] {
		return nil, &missingExport{name: name}
	}
	if visited == nil {
		visited = map[resolution]bool{}
	}
	visited[resolution{m, name}] = true
	for _, x := range m.Unit.Exports {
		if x.Name == name && x.Import >= 0 && x.Import < len(m.deps) {
			return g.exportOf(m.deps[x.Import], x.ImportName, visited)
		}
	}
	if name == "default" {
		return nil, missing(name, g.exportNames(m, nil))
	}
	var found *cell
	for _, i := range m.Unit.Stars {
		if i >= len(m.deps) {
			continue
		}
		c, err := g.exportOf(m.deps[i], name, visited)
		var lacks *missingExport
		switch {
		case errors.As(err, &lacks) && lacks.ambiguous:
			return nil, lacks
		case err != nil:
		case found == nil:
			found = c
		case found != c && (c.from.module == nil || c.from != found.from):
			return nil, &missingExport{name: name, ambiguous: true}
		}
	}
	if found == nil {
		return nil, missing(name, g.exportNames(m, nil))
	}
	return found, nil
}

// exportNames returns the exported names of a module, each once. They are sorted, except those of a builtin written in Go. It returns
// nil for a module in visited, so that circular exports end.
func (g *Graph) exportNames(m *Module, visited []*Module) []string {
	if m.builtin != nil {
		return m.builtin.Keys()
	}
	if slices.Contains(visited, m) {
		return nil
	}
	visited = append(visited, m)
	var names []string
	for name := range m.cells {
		names = append(names, name)
	}
	if m.Unit != nil {
		for _, x := range m.Unit.Exports {
			if x.Import >= 0 {
				names = append(names, x.Name)
			}
		}
		for _, i := range m.Unit.Stars {
			if i < len(m.deps) {
				for _, name := range g.exportNames(m.deps[i], visited) {
					if name != "default" {
						names = append(names, name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// importAssignments returns the positions where the exporting module assigns an imported binding. It returns nil for other
// names.
func (m *Module) importAssignments(local string) []diag.Position {
	for _, l := range m.Unit.Links {
		if l.Local != local || l.Import >= len(m.deps) {
			continue
		}
		if c := m.deps[l.Import].cells[l.Name]; c != nil {
			return c.assigned
		}
	}
	return nil
}
