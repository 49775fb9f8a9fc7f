package esm

import (
	"fmt"
	"slices"
)

// Link links a module and its transitive imports. It resolves the imports and creates each module's functions, so that
// modules of a cycle can call them before their code has run.
func (g *Graph) Link(m *Module) error {
	return (&traversal{graph: g}).connect(m)
}

func (t *traversal) connect(m *Module) error {
	if m.Unit == nil || m.connected {
		return nil
	}
	m.connected = true
	m.dfsIndex, m.dfsAncestorIndex = t.index, t.index
	t.index++
	t.stack = append(t.stack, m)
	for _, dep := range m.deps {
		if err := t.connect(dep); err != nil {
			return err
		}
		if slices.Contains(t.stack, dep) {
			m.dfsAncestorIndex = min(m.dfsAncestorIndex, dep.dfsAncestorIndex)
		}
	}
	if m.dfsAncestorIndex != m.dfsIndex {
		return nil
	}
	at := slices.Index(t.stack, m)
	ring := t.stack[at:]
	t.stack = t.stack[:at]
	for _, member := range ring {
		if err := t.graph.checkLinks(member); err != nil {
			t.graph.forget(member)
			return err
		}
		if len(ring) > 1 || slices.Contains(member.deps, member) {
			if err := t.graph.checkUses(member); err != nil {
				return err
			}
		}
	}
	for _, member := range ring {
		if member.path == "" { // a prompt line
			continue
		}
		if err := t.graph.instantiate(member); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks returns an error for the first import or re-export of a name that does not exist.
func (g *Graph) checkLinks(m *Module) error {
	for _, l := range m.Unit.Links {
		if _, err := g.exportOf(m.deps[l.Import], l.Name, nil); err != nil {
			return g.linkError(m, l.Import, l.Offset, err)
		}
	}
	for _, x := range m.Unit.Exports {
		if x.Import >= 0 && x.ImportName != "*" {
			if _, err := g.exportOf(m, x.Name, nil); err != nil {
				return g.linkError(m, x.Import, x.Offset, err)
			}
		}
	}
	return nil
}

// linkError ends a module with the SyntaxError of an import or re-export that does not exist, and returns this error.
func (g *Graph) linkError(m *Module, from, offset int, err error) error {
	located := *g.host.Diagnose(g.importError(m, offset, 1, fmt.Errorf("%q %w", m.Unit.Imports[from].From, err)))
	located.Name = "SyntaxError"
	m.err, m.state = &located, evaluated
	return &located
}

// checkUses recompiles a module of a cycle, so that reading an uninitialized import is an error.
func (g *Graph) checkUses(m *Module) error {
	o := g.Options(m.Unit.Name)
	o.CheckImports = true
	unit, err := g.cache.Compile(m.Unit.Name, m.Unit.Original, o)
	if err != nil {
		return err
	}
	m.adopt(unit)
	return nil
}

// instantiate creates a module's functions and links its imports, without running other code of the module.
func (g *Graph) instantiate(m *Module) error {
	return g.Job(func() {
		v, err := g.Call(m)
		if err == nil {
			m.generator = v
			_, _, err = g.advance(m, g.next, nil)
		}
		if err != nil {
			g.host.Throw(err)
		}
	})
}
