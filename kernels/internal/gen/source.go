package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// library is the text of the device library: one scope of functions and constants for all files. The files are ES modules
// for readability. Since exported names are unique, the joined files are equivalent.
type library struct {
	vm        *goja.Runtime
	functions map[string]*function
}

// function is a function of the library.
type function struct {
	name   string
	params []string
	source *kernel.Source
}

var (
	importLine = regexp.MustCompile(`(?m)^import .*$`)
	exportWord = regexp.MustCompile(`(?m)^export `)
	header     = regexp.MustCompile(`(?m)^function (\w+)\(([^)]*)\)`)
)

// load reads the library from the JavaScript files of a folder.
func load(dir string) (*library, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.js"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	lib := &library{vm: goja.New(), functions: map[string]*function{}}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		// Blanks replace imports, and the word export is removed, so that line numbers are unchanged.
		blank := func(s string) string { return strings.Repeat(" ", len(s)) }
		text := exportWord.ReplaceAllStringFunc(importLine.ReplaceAllStringFunc(string(data), blank), func(string) string { return "" })
		if err := lib.add(filepath.Base(file), text); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

func (lib *library) add(file, text string) error {
	if _, err := lib.vm.RunScript(file, text); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, m := range header.FindAllStringSubmatchIndex(text, -1) {
		name, params := text[m[2]:m[3]], text[m[4]:m[5]]
		end := strings.Index(text[m[0]:], "\n}")
		if end < 0 {
			return fmt.Errorf("%s: function %s has no end at the start of a line", file, name)
		}
		if lib.functions[name] != nil {
			return fmt.Errorf("%s: function %s is declared twice", file, name)
		}
		f := &function{name: name, source: &kernel.Source{Text: text[m[0] : m[0]+end+2], Capture: lib.capture}}
		for p := range strings.SplitSeq(params, ",") {
			f.params = append(f.params, strings.TrimSpace(p))
		}
		line := 1 + strings.Count(text[:m[0]], "\n")
		f.source.Position = func(offset int) (string, int, int) {
			before := f.source.Text[:min(offset, len(f.source.Text))]
			return file, line + strings.Count(before, "\n"), offset - strings.LastIndex(before, "\n")
		}
		lib.functions[name] = f
	}
	return nil
}

// capture returns the value of a library name for the compiler: a function, a number, or a table. It returns nil for names
// of the language and for unknown ones.
func (lib *library) capture(name string) (any, error) {
	if f := lib.functions[name]; f != nil {
		return f.source, nil
	}
	if v := lib.vm.GlobalObject().Get(name); v != nil {
		return nil, nil // names of the language: Math, Infinity and so on
	}
	v, err := lib.vm.RunString(name)
	if err != nil {
		return nil, nil
	}
	switch x := v.Export().(type) {
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	case []uint32:
		t := kernel.Table{Elem: ir.U32}
		for _, n := range x {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, n)
		}
		return t, nil
	case []uint64:
		t := kernel.Table{Elem: ir.U64}
		for _, n := range x {
			t.Data = binary.LittleEndian.AppendUint64(t.Data, n)
		}
		return t, nil
	}
	return nil, fmt.Errorf("a constant of the library is a number, a Uint32Array or a BigUint64Array, not %s", v.ExportType())
}
