package esm

import (
	"slices"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/source"
)

// A Module is one file, a prompt line, or a builtin module as imported by files.
type Module struct {
	// path is absolute, and followed by ?text or ?bytes if the file is imported as such. It is the name of a builtin in JavaScript,
	// and empty for other builtins and the prompt.
	path string
	Unit *source.Unit
	deps []*Module // indexed by import number

	cells     map[string]*cell
	builtin   *goja.Object // exports of a builtin written in Go, or nil
	namespace *goja.Object
	scope     goja.Callable // reads module-level bindings by number; nil if functions capture none
	sites     []goja.Value  // marks of the unit's functions; each is nil until needed
	setImport func(index int, v goja.Value)
	generator goja.Value // runs the module's code; set from linking until the code has run

	isCall    bool // the text was passed to a call of the engine
	connected bool // Link has begun with the module
	Main      bool // the module is the text of Engine.Run, or the file of Engine.RunFile
	state     moduleState
	err       error       // why the module failed, or nil
	began     *loop.Scope // scope of the evaluation

	ordering

	awaits   int             // offset of the last top-level await reached; -1 before the first
	awaited  goja.Value      // value of that await, or nil
	imported []pendingImport // dynamic imports of its code that have not finished
}

// ordering is a module's state in the linking and evaluation traversals. The field names follow ECMA-262.
type ordering struct {
	dfsIndex         int       // order of the visit
	dfsAncestorIndex int       // least index that the module's cycle reaches
	cycleRoot        *Module   // module of the cycle that was visited first; nil until the whole cycle has been visited
	asyncOrder       int       // order among asynchronous modules; 0 for others
	pendingAsync     int       // number of asynchronous imports not yet evaluated
	asyncParents     []*Module // modules that wait for this one
	waiters          []func(error)
}

type moduleState int

const (
	loaded moduleState = iota
	evaluating
	evaluated
)

// A cell holds the value of an export and notifies its importers of changes.
type cell struct {
	value     goja.Value
	importers []importer
	once      func()          // called after the first value is set; may be nil
	assigned  []diag.Position // positions of assignments other than the declaration
	changes   bool            // the value may change after the first
	from      resolution      // the export, if the cell was made for one import, or zero
}

// An importer is an import of a cell. It does not keep the module alive; functions of the module do.
type importer struct {
	module weak.Pointer[Module]
	index  int // index of the import in the module
}

func (c *cell) set(v goja.Value) {
	first := c.value == nil
	c.value = v
	for _, i := range c.importers {
		if m := i.module.Value(); m != nil {
			m.setImport(i.index, v)
		}
	}
	if !c.changes {
		c.importers = nil
	}
	if first && c.once != nil {
		c.once()
		c.once = nil
	}
}

// importedBy sets an import of a module to the current value, if any, and to each later one.
func (c *cell) importedBy(m *Module, index int) {
	if c.value != nil {
		m.setImport(index, c.value)
		if !c.changes {
			return
		}
	}
	if len(c.importers) == cap(c.importers) { // removes dead importers before the slice grows
		c.importers = slices.DeleteFunc(c.importers, func(i importer) bool { return i.module.Value() == nil })
	}
	c.importers = append(c.importers, importer{weak.Make(m), index})
}

// A Site is the place of a function in a module.
type Site struct {
	*source.Site
	module *Module
}

// Variable returns the value of a module-level binding by its number. It fails before the declaration has run.
func (s *Site) Variable(number goja.Value) (goja.Value, error) {
	return s.module.scope(nil, number)
}

// Assigned returns the positions where the exporting module assigns an imported binding, or nil for another name.
func (s *Site) Assigned(local string) []diag.Position { return s.module.importAssignments(local) }
