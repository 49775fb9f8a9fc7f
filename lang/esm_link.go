package lang

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/source"
	"github.com/orepl/orepl/lang/spelling"
)

// A module is one file, or a builtin module as imported by files.
type module struct {
	path string // absolute; empty for builtins and the prompt
	unit *source.Unit
	deps []*module // indexed by import number

	cells     map[string]*cell
	builtin   *goja.Object // exports of a builtin
	namespace *goja.Object
	scope     goja.Callable // reads module-level bindings by number
	sites     []goja.Value  // marks of the unit's functions; nil until needed
	setImport func(index int, v goja.Value)
	generator goja.Value // runs the module's code; set from linking until the code has run

	isCall    bool // the text was passed to a call of the engine
	connected bool
	main      bool // the module is the argument of a call of the engine
	state     moduleState
	err       error
	began     *loop.Scope // scope of the evaluation

	ordering

	awaits   int             // offset of the last top-level await reached; -1 before the first
	awaited  goja.Value      // value of that await
	imported []pendingImport // dynamic imports of its code that have not finished
}

// ordering is a module's state in the linking and evaluation traversals. The field names follow ECMA-262.
type ordering struct {
	dfsIndex         int       // order of the visit
	dfsAncestorIndex int       // least index that the module's cycle reaches
	cycleRoot        *module   // first evaluated module of the cycle
	asyncOrder       int       // order among asynchronous modules; 0 for others
	pendingAsync     int       // number of asynchronous imports not yet evaluated
	asyncParents     []*module // modules that wait for this one
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
	once      func()          // called with the first value
	assigned  []diag.Position // positions of assignments other than the declaration
	changes   bool            // the value may change after the first
	from      resolution      // the export, if the cell was made for one import
}

// An importer is an import of a cell. It does not keep the module alive; functions of the module do.
type importer struct {
	module weak.Pointer[module]
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
func (c *cell) importedBy(m *module, index int) {
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

// extensions are appended, in order, to a path that names no file.
var extensions = []string{".ts", ".js", ".mjs", ".json", "/index.ts", "/index.js"}

// load returns the module of a specifier in importer, compiled with its transitive imports.
func (e *Engine) load(specifier, kind string, importer *module) (*module, error) {
	if _, ok := e.esm.builtins[specifier]; ok {
		return e.loadBuiltin(specifier)
	}
	name, err := e.pathOf(specifier)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(name) && importer != nil { // names of prompt lines have no directory
		name = filepath.Join(filepath.Dir(importer.unit.Name), name)
	}
	return e.loadFile(name, kind, false)
}

func (e *Engine) loadBuiltin(name string) (*module, error) {
	if m := e.esm.files[name]; m != nil {
		return m, nil
	}
	if b := e.esm.builtins[name]; b.Source != nil {
		return e.loadSource(name, "orepl:"+name+".js", b.Source(), false)
	}
	exports, err := e.Require(name)
	if err != nil {
		return nil, err
	}
	m := &module{builtin: exports, state: evaluated}
	e.esm.files[name] = m
	return m, nil
}

// loadFile loads a file by a name that is absolute or relative to the engine's directory. With anew it always creates a new
// module.
func (e *Engine) loadFile(name, kind string, anew bool) (*module, error) {
	name, path, err := e.find(name)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = kindOf(name)
	}
	key := path
	if kind == "text" || kind == "bytes" {
		key += "?" + kind
	}
	if m := e.esm.files[key]; m != nil && !anew {
		return m, m.err
	}
	data, err := e.opts.Cache.read(path, func(path string) ([]byte, error) { return e.readFile(e.Running(), path) })
	if err != nil {
		return nil, FileError("import", name, err)
	}
	if kind != "module" {
		return e.loadData(key, name, kind, data)
	}
	if bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
		return nil, diag.New("syntax", "import %s: this is a binary file, not a script", name).
			WithHint("an image of device code is registered, register(%q) of 'offload', and listed by: orepl image list FILE", name)
	}
	return e.loadSource(path, name, string(data), false)
}

// find resolves a name without an extension and checks the policy.
func (e *Engine) find(name string) (found, path string, err error) {
	if path, err = e.ReadPath(name); err != nil {
		return "", "", err
	}
	with := func(ext string) (found, file string, err error) {
		e.opts.Cache.setExtension(path, ext)
		if ext != "" {
			_, err = e.ReadPath(name + ext)
		}
		return name + ext, path + ext, err
	}
	if ext, ok := e.opts.Cache.extension(path); ok {
		return with(ext)
	}
	info, err := e.opts.Disk().Stat(path)
	if err == nil && !info.IsDir() {
		return with("")
	}
	for _, ext := range extensions {
		if info, xerr := e.opts.Disk().Stat(path + ext); xerr == nil && !info.IsDir() {
			return with(ext)
		}
	}
	if err == nil {
		err = &fs.PathError{Op: "import", Path: path, Err: errors.New("is a directory without an index.js")}
	}
	return "", "", e.ReadError("import", name, path, err)
}

// ReadError is [FileError] for a path that is read. If the file does not exist, the hint suggests a file with a similar name in
// the same directory.
func (e *Engine) ReadError(op, name, path string, err error) error {
	d := fileError(op, name, err)
	if errors.Is(err, fs.ErrNotExist) {
		if near := e.neighbour(path); near != "" {
			return d.WithHint("did you mean %s?", near)
		}
	}
	return d
}

// neighbour returns the name of a file in the same directory whose name resembles a missing path, or "". It returns "" if the
// engine has a read policy.
func (e *Engine) neighbour(path string) string {
	if e.opts.Policy.Read != nil {
		return ""
	}
	entries, err := e.opts.Disk().ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name()
	}
	return spelling.Nearest(filepath.Base(path), names)
}

// FileError describes a failed file operation. op is the operation, and name is the file name as the script wrote it.
func FileError(op, name string, err error) error { return fileError(op, name, err) }

func fileError(op, name string, err error) *diag.Diagnostic {
	d := &diag.Diagnostic{ID: "io-error", Message: fmt.Sprintf("%s %s: %v", op, name, underlying(err)), Cause: err}
	if errors.Is(err, fs.ErrNotExist) {
		d.ID = "not-found"
		d.Message = fmt.Sprintf("%s %s: there is no such file", op, name)
		d.Hint = "a relative path begins at the working directory, which process.cwd() names"
		if op == "import" {
			d.Hint = "a path that begins with ./ or ../ begins at the file that imports"
		}
	} else if errors.Is(err, fs.ErrPermission) {
		d.ID = "permission-denied"
		d.Hint = "the user who runs this may not do that to the file"
	}
	return d
}

func underlying(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// kindOf returns the kind of an imported file by its name.
func kindOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "json"
	case ".txt", ".cl", ".ptx", ".ll", ".md", ".csv":
		return "text"
	}
	return "module"
}

// loadData returns a module whose default export is the file's content.
func (e *Engine) loadData(key, name, kind string, data []byte) (*module, error) {
	m := &module{path: key, state: evaluated, cells: map[string]*cell{}}
	var v goja.Value
	switch kind {
	case "text":
		v = e.vm.ToValue(string(data))
	case "bytes":
		array, err := e.TypedArray("Uint8Array", data)
		if err != nil {
			return nil, err
		}
		v = array
	case "json":
		var err error
		if v, err = e.ParseJSON(name, data); err != nil {
			return nil, err
		}
	default:
		return nil, diag.New("invalid-argument", "import of %s: there is no import type %q", name, kind).
			WithHint(`the types are "json", "text" and "bytes"`)
	}
	m.cells["default"] = &cell{value: v}
	e.esm.files[key] = m
	return m, nil
}

// ParseJSON parses JSON; name appears in the error, which has the position.
func (e *Engine) ParseJSON(name string, data []byte) (goja.Value, error) {
	v, err := e.intrinsics.parse(nil, e.vm.ToValue(string(data)))
	if err == nil {
		return v, nil
	}
	d := &diag.Diagnostic{ID: "syntax", Name: "SyntaxError", Message: "this is no JSON", Cause: err}
	var problem *builtins.JSONError
	if errors.As(e.Unthrown(err), &problem) {
		text := string(data)
		at, units := len(text), 0
		for i, c := range text {
			if units >= problem.Offset {
				at = i
				break
			}
			units += utf16.RuneLen(c)
		}
		d.Message, d.Hint = "this is no JSON: "+problem.Message, problem.Hint
		d.Position = diag.PositionAt(name, text, at)
		d.Excerpt = diag.Excerpted(text, d.Position, 1)
	}
	return nil, d
}

// loadSource compiles a text and loads its imports. A cycle of imports finds the module before its imports are complete.
func (e *Engine) loadSource(path, name, text string, isCall bool) (*module, error) {
	m, err := e.compile(path, name, text, isCall, source.Options{TypeScript: isTypeScript(name)})
	if err != nil {
		return nil, err
	}
	if path != "" {
		e.esm.files[path] = m
	}
	if err := e.loadImports(m); err != nil {
		m.err, m.state = err, evaluated
		e.forget(m)
		return nil, err
	}
	return m, nil
}

// forget drops a module whose imports failed to load and the partially loaded modules that import it, so that the next import
// retries.
func (e *Engine) forget(m *module) {
	for key, other := range e.esm.files {
		if other == m || other.state == loaded && other.imports(m, map[*module]bool{}) {
			delete(e.esm.files, key)
		}
	}
}

// imports reports whether m imports another module, directly or indirectly.
func (m *module) imports(other *module, visited map[*module]bool) bool {
	visited[m] = true
	for _, dep := range m.deps {
		if dep == other || !visited[dep] && dep.imports(other, visited) {
			return true
		}
	}
	return false
}

// forgetUnfinished drops modules whose evaluation was interrupted, and modules that wait for dropped ones. It also drops
// modules that never started, because they may import such modules.
func (e *Engine) forgetUnfinished(lost func(*module) bool) {
	for key, m := range e.esm.files {
		_, cut := ended(m.err)
		if cut || m.state == loaded || m.state == evaluating && lost(m) {
			delete(e.esm.files, key)
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
func (e *Engine) compile(path, name, text string, isCall bool, o source.Options) (*module, error) {
	o.CountLoops = e.opts.Limits.Iterations > 0
	e.report.sources.set(name, text, isCall)
	unit, err := e.compileUnit(name, text, o)
	if err != nil {
		return nil, err
	}
	m := &module{path: path, isCall: isCall, cells: map[string]*cell{}, awaits: -1}
	m.adopt(unit)
	for _, x := range unit.Exports {
		if x.Import < 0 {
			c := &cell{}
			if b := unit.Binding(x.Local); b != nil {
				c.assigned = positions(unit, b.Assigned)
				c.changes = len(b.Assigned) > 0 || b.Kind == source.KindVar && b.Name != "default"
			}
			m.cells[x.Name] = c
		}
	}
	return m, nil
}

// compileUnit compiles a text until the running call ends.
func (e *Engine) compileUnit(name, text string, o source.Options) (*source.Unit, error) {
	e.builtins.Want(text)
	return UntilCallEnds(e, func() (*source.Unit, error) { return e.opts.Cache.compile(name, text, o) })
}

// UntilCallEnds runs work on another goroutine and abandons it if the running call ends first; it then returns the cause. Its
// users are parsers and file operations, which do not check interrupts. It must be called on the loop's goroutine.
func UntilCallEnds[T any](e *Engine, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
		panic any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panic = recover()
			done <- r
		}()
		e.limit.share.Run(func() { r.value, r.err = work() })
	}()
	select {
	case r := <-done:
		if r.panic != nil {
			panic(r.panic)
		}
		return r.value, r.err
	case <-e.Running().Done():
		var none T
		return none, context.Cause(e.Running())
	}
}

// adopt sets the compiled unit of a module.
func (m *module) adopt(unit *source.Unit) {
	m.unit, m.sites = unit, make([]goja.Value, len(unit.Sites))
}

// sourceOptions returns the options for compiling a module.
func (e *Engine) sourceOptions(name string) source.Options {
	return source.Options{TypeScript: isTypeScript(name), CountLoops: e.opts.Limits.Iterations > 0}
}

func (e *Engine) loadImports(m *module) error {
	for i := range m.unit.Imports {
		imp := &m.unit.Imports[i]
		dep, err := e.load(imp.From, imp.Type, m)
		if err != nil {
			return e.importError(m, imp.Named, len(imp.From)+2, err)
		}
		m.deps = append(m.deps, dep)
	}
	return nil
}

// importError adds the position of an import to an error that has none.
func (e *Engine) importError(m *module, offset, width int, err error) error {
	d := e.Diagnose(err)
	if d.Position.IsValid() {
		return d
	}
	located := *d
	if located.Name == "" && located.ID == "" { // a code is more specific
		located.Name = "Error"
	}
	e.place(&located, m.unit.Position(offset), width)
	return &located
}

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
	module *module
	name   string
}

// exportOf returns the cell of an export and follows re-exports. The name "*" is the namespace. visited holds the exports that
// led to this one; it is nil for a new search.
func (e *Engine) exportOf(m *module, name string, visited map[resolution]bool) (*cell, error) {
	if name == "*" {
		return &cell{value: e.namespaceOf(m), from: resolution{m, name}}, nil
	}
	if m.builtin != nil {
		if v := m.builtin.Get(name); v != nil {
			return &cell{value: v, from: resolution{m, name}}, nil
		}
		lacks := missing(name, m.builtin.Keys())
		lacks.elsewhere = cmp.Or(e.nameHabit(name), e.importOf(name))
		return nil, lacks
	}
	if c := m.cells[name]; c != nil {
		return c, nil
	}
	if m.unit == nil || visited[resolution{m, name}] {
		return nil, &missingExport{name: name}
	}
	if visited == nil {
		visited = map[resolution]bool{}
	}
	visited[resolution{m, name}] = true
	for _, x := range m.unit.Exports {
		if x.Name == name && x.Import >= 0 && x.Import < len(m.deps) {
			return e.exportOf(m.deps[x.Import], x.ImportName, visited)
		}
	}
	if name == "default" {
		return nil, missing(name, e.exportNames(m, nil))
	}
	var found *cell
	for _, i := range m.unit.Stars {
		if i >= len(m.deps) {
			continue
		}
		c, err := e.exportOf(m.deps[i], name, visited)
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
		return nil, missing(name, e.exportNames(m, nil))
	}
	return found, nil
}

// exportNames returns the exported names of a module.
func (e *Engine) exportNames(m *module, visited []*module) []string {
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
	if m.unit != nil {
		for _, x := range m.unit.Exports {
			if x.Import >= 0 {
				names = append(names, x.Name)
			}
		}
		for _, i := range m.unit.Stars {
			if i < len(m.deps) {
				for _, name := range e.exportNames(m.deps[i], visited) {
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

// importAssignments returns the positions where the exporting module assigns an imported binding.
func (m *module) importAssignments(local string) []diag.Position {
	for _, l := range m.unit.Links {
		if l.Local != local || l.Import >= len(m.deps) {
			continue
		}
		if c := m.deps[l.Import].cells[l.Name]; c != nil {
			return c.assigned
		}
	}
	return nil
}
