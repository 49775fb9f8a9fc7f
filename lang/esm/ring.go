package esm

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// ring returns an error if m would wait for itself: a top-level await on an import of a module that waits for m. ECMA-262
// allows this deadlock.
func (g *Graph) ring(m *Module) error {
	if way := m.wayTo(m, false, nil, map[*Module]bool{}); way != nil {
		return ringError(way)
	}
	return nil
}

func ringError(way []*Module) *diag.Diagnostic {
	names := make([]string, len(way))
	for i, w := range way {
		names[i] = filepath.Base(w.Unit.Name)
	}
	d := diag.New("import-ring", "this await would never end: %s wait for each other", strings.Join(names, " → "))
	if len(names) == 2 {
		d.Message = fmt.Sprintf("this await would never end: %s waits for itself", names[0])
	}
	d.Name = "Error"
	return d.WithHint("import without await where the module is needed, as in import('./file.js').then(…), or move what both need into a file of its own")
}

// AnyRing returns a diagnostic if a cycle of imports may be the reason why the running call deadlocks, or else nil. The promise
// of an import may be hidden behind other awaited promises.
func (g *Graph) AnyRing() *diag.Diagnostic {
	for _, key := range slices.Sorted(maps.Keys(g.files)) {
		if m := g.files[key]; m.state == evaluating {
			if way := m.wayTo(m, true, nil, map[*Module]bool{}); way != nil {
				return ringError(way)
			}
		}
	}
	return nil
}

// wayTo returns the path of awaited modules from m to a module, both included, or nil. With maybe, every import(…) that has not
// finished counts as awaited.
func (m *Module) wayTo(to *Module, maybe bool, way []*Module, visited map[*Module]bool) []*Module {
	way = append(way, m)
	next := func(dep *Module) []*Module {
		if dep == to {
			return append(way, dep)
		}
		if dep.Unit == nil || dep.state == evaluated || visited[dep] {
			return nil
		}
		visited[dep] = true
		return dep.wayTo(to, maybe, way, visited)
	}
	for _, i := range m.imported {
		if maybe || m.awaited != nil && i.promise.SameAs(m.awaited) {
			if found := next(i.module); found != nil {
				return found
			}
		}
	}
	if m != to { // the static imports of m were resolved before its code ran
		for _, dep := range m.deps {
			if found := next(dep); found != nil {
				return found
			}
		}
	}
	return nil
}

// AwaitPlace returns the position of a pending top-level await of the module or of its imports, or the zero position.
func (m *Module) AwaitPlace() diag.Position { return m.awaitPlace(nil) }

func (m *Module) awaitPlace(visited []*Module) diag.Position {
	if m.Unit == nil || m.state == evaluated || slices.Contains(visited, m) {
		return diag.Position{}
	}
	for _, dep := range m.deps {
		if p := dep.awaitPlace(append(visited, m)); p.IsValid() {
			return p
		}
	}
	if m.awaits < 0 {
		return diag.Position{}
	}
	return m.Unit.Position(m.awaits)
}
