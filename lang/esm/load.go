package esm

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/source"
)

// extensions are appended, in order, to a path that names no file.
var extensions = []string{".ts", ".js", ".mjs", ".json", "/index.ts", "/index.js"}

// Load returns the module of a specifier in importer, which may be nil, compiled with its transitive imports. kind is the type
// that the import names, or "".
func (g *Graph) Load(specifier, kind string, importer *Module) (*Module, error) {
	if _, ok := g.host.Source(specifier); ok {
		if kind != "" {
			return nil, diag.New("invalid-argument", "import of %s: a builtin module is not of type %q", specifier, kind).
				WithHint("leave out the type: write import … from '%s'", specifier)
		}
		return g.LoadBuiltin(specifier)
	}
	name, err := g.pathOf(specifier)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(name) && importer != nil { // names of prompt lines have no directory
		name = filepath.Join(filepath.Dir(importer.Unit.Name), name)
	}
	return g.LoadFile(name, kind, false)
}

// LoadBuiltin returns the module of a builtin's name.
func (g *Graph) LoadBuiltin(name string) (*Module, error) {
	if m := g.files[name]; m != nil {
		return m, nil
	}
	if text, _ := g.host.Source(name); text != nil {
		return g.loadSource(name, "orepl:"+name+".js", text(), false)
	}
	exports, err := g.host.Require(name)
	if err != nil {
		return nil, err
	}
	m := &Module{builtin: exports, state: evaluated}
	g.files[name] = m
	return m, nil
}

// byteOrderMark begins the files of some editors. It is no part of a script or of JSON.
const byteOrderMark = "\ufeff"

// LoadFile loads a file by a name that is absolute or relative to the engine's directory. kind is "module", the type that the
// import names, or "" if the extension decides. With anew it always creates a new module.
func (g *Graph) LoadFile(name, kind string, anew bool) (*Module, error) {
	name, path, err := g.find(name)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = kindOf(name)
	}
	key := path
	if kind != "module" { // each type has a module of its own
		key += "?" + kind
	}
	if m := g.files[key]; m != nil && !anew {
		return m, nil // also one that failed: its evaluation is its importers' error
	}
	data, err := g.cache.read(path, func(path string) ([]byte, error) { return g.host.ReadModule(name, path) })
	if err != nil {
		return nil, err
	}
	if kind == "module" || kind == "json" {
		data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	}
	if kind != "module" {
		return g.loadData(key, name, kind, data)
	}
	if bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
		return nil, diag.New("syntax", "import %s: this is a binary file, not a script", name).
			WithHint("an image of device code is registered, register(%q) of 'offload', and listed by: orepl image list FILE", name)
	}
	return g.loadSource(path, name, string(data), false)
}

// find returns the name and the path of a file, whose extension the name may lack. It checks the policy.
func (g *Graph) find(name string) (found, path string, err error) {
	if path, err = g.host.ReadPath(name); err != nil {
		return "", "", err
	}
	with := func(ext string) (found, file string, err error) {
		g.cache.setExtension(path, ext)
		if ext != "" {
			_, err = g.host.ReadPath(name + ext)
		}
		return name + ext, path + ext, err
	}
	if ext, ok := g.cache.extension(path); ok {
		return with(ext)
	}
	info, err := g.host.Stat(path)
	if err == nil && !info.IsDir() {
		return with("")
	}
	for _, ext := range extensions {
		if info, xerr := g.host.Stat(path + ext); xerr == nil && !info.IsDir() {
			return with(ext)
		}
	}
	if err == nil {
		err = &fs.PathError{Op: "import", Path: path, Err: errors.New("is a directory without an index.js or index.ts")}
	} else {
		g.cache.Link(path) // it may be created later
	}
	for _, ext := range extensions {
		g.cache.Link(path + ext)
	}
	return "", "", g.host.ReadError("import", name, path, err)
}

// kindOf returns the kind of an imported file by its name: "json", "text" or "module".
func kindOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "json"
	case ".txt", ".cl", ".ptx", ".ll", ".md", ".csv":
		return "text"
	}
	return "module"
}

// loadData returns a module whose default export is the file's content. Text and JSON must be UTF-8.
func (g *Graph) loadData(key, name, kind string, data []byte) (*Module, error) {
	m := &Module{path: key, state: evaluated, cells: map[string]*cell{}}
	var v goja.Value
	switch kind {
	case "text":
		if d := source.CheckEncoding(name, string(data)); d != nil {
			return nil, d
		}
		v = g.vm.ToValue(string(data))
	case "bytes":
		array, err := g.host.TypedArray("Uint8Array", data)
		if err != nil {
			return nil, err
		}
		v = array
	case "json":
		var err error
		if v, err = g.host.ParseJSON(name, data); err != nil {
			return nil, err
		}
	default:
		return nil, diag.New("invalid-argument", "import of %s: there is no import type %q", name, kind).
			WithHint(`the types are "json", "text" and "bytes"`)
	}
	m.cells["default"] = &cell{value: v}
	g.files[key] = m
	return m, nil
}

// LoadCall compiles the text of a call of the engine and loads its imports. The module stands for the file with the path and
// the name.
func (g *Graph) LoadCall(path, name, text string) (*Module, error) {
	return g.loadSource(path, name, strings.TrimPrefix(text, byteOrderMark), true)
}

// Drop removes a module of [Graph.LoadCall], so that later imports of its path load the file. It ignores other modules.
func (g *Graph) Drop(m *Module) {
	if m.isCall && g.files[m.path] == m {
		delete(g.files, m.path)
	}
}

// LoadLine compiles and links a prompt line.
func (g *Graph) LoadLine(name, text string) (*Module, error) {
	m, err := g.compile("", name, text, true, source.Options{Kind: source.Prompt})
	if err != nil {
		return nil, err
	}
	if err := g.loadImports(m); err != nil {
		return nil, err
	}
	return m, g.Link(m)
}

// loadSource compiles a text and loads its imports. A cycle of imports finds the module before its imports are complete.
func (g *Graph) loadSource(path, name, text string, isCall bool) (*Module, error) {
	m, err := g.compile(path, name, text, isCall, source.Options{TypeScript: isTypeScript(name)})
	if err != nil {
		return nil, err
	}
	if path != "" {
		g.files[path] = m
	}
	if err := g.loadImports(m); err != nil {
		m.err, m.state = err, evaluated
		g.forget(m)
		return nil, err
	}
	return m, nil
}

// forget drops a module whose imports failed to load or to link, and the modules not yet evaluated that import it. The next import
// loads them again.
func (g *Graph) forget(m *Module) {
	for key, other := range g.files {
		if other == m || other.state == loaded && other.imports(m, map[*Module]bool{}) {
			delete(g.files, key)
		}
	}
}

// imports reports whether m imports another module, directly or indirectly.
func (m *Module) imports(other *Module, visited map[*Module]bool) bool {
	visited[m] = true
	for _, dep := range m.deps {
		if dep == other || !visited[dep] && dep.imports(other, visited) {
			return true
		}
	}
	return false
}

// ForgetUnfinished drops modules whose evaluation was interrupted, and those whose evaluation began in s and has not finished.
// If s is nil, the scope does not matter. It also drops modules that never started, because they may import such modules.
func (g *Graph) ForgetUnfinished(s *loop.Scope) {
	for key, m := range g.files {
		if g.host.Cut(m.err) || m.state == loaded || m.state == evaluating && (s == nil || m.began == s) {
			delete(g.files, key)
		}
	}
}

func isTypeScript(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ts", ".mts":
		return true
	}
	return false
}

// compile compiles a text from a call or a file into a module whose imports are not loaded.
func (g *Graph) compile(path, name, text string, isCall bool, o source.Options) (*Module, error) {
	o.CountLoops = g.countLoops
	unit, err := g.host.Compile(name, text, isCall, o)
	if err != nil {
		return nil, err
	}
	m := &Module{path: path, isCall: isCall, cells: map[string]*cell{}, awaits: -1}
	m.adopt(unit)
	for _, x := range unit.Exports {
		if x.Import < 0 {
			c := &cell{}
			if b := unit.Binding(x.Local); b != nil {
				c.assigned = unit.Positions(b.Assigned)
				c.changes = len(b.Assigned) > 0 || b.Kind == source.KindVar && b.Name != "default"
			}
			m.cells[x.Name] = c
		}
	}
	return m, nil
}

// adopt sets the compiled unit of a module.
func (m *Module) adopt(unit *source.Unit) {
	m.Unit, m.sites = unit, make([]goja.Value, len(unit.Sites))
}

func (g *Graph) loadImports(m *Module) error {
	for i := range m.Unit.Imports {
		imp := &m.Unit.Imports[i]
		dep, err := g.Load(imp.From, imp.Type, m)
		if err != nil {
			return g.importError(m, imp.Named, len(imp.From)+2, err)
		}
		m.deps = append(m.deps, dep)
	}
	return nil
}

// importError adds the position of an import to an error that has none.
func (g *Graph) importError(m *Module, offset, width int, err error) error {
	d := g.host.Diagnose(err)
	if d.Position.IsValid() {
		return d
	}
	located := *d
	if located.Name == "" && located.ID == "" { // a code is more specific
		located.Name = "Error"
	}
	g.host.Place(&located, m.Unit.Position(offset), width)
	return &located
}

// Imports reports whether the module loaded from a file has an import with a local name.
func (g *Graph) Imports(file, name string) bool {
	for _, m := range g.files {
		if m.Unit != nil && m.Unit.Name == file {
			return slices.ContainsFunc(m.Unit.Links, func(l source.Link) bool { return l.Local == name })
		}
	}
	return false
}
