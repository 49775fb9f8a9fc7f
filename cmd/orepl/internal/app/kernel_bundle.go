package app

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/image"
	contract "github.com/orepl/orepl/runtime/offload"
)

// bundle returns the compiled kernels as a container with one image of portable IR. Equal kernels yield equal bytes: they
// are sorted by name, and source names are relative to the script's folder.
func bundle(script string, compiled []launch.Compilation) ([]byte, error) {
	modules, err := distinctKernels(compiled)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(script))
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		for i, name := range m.Files {
			m.Files[i] = relative(dir, name)
		}
	}
	linked, err := ir.Link(modules...)
	if err == nil {
		err = linked.Verify()
	}
	if err != nil {
		return nil, contract.Errorf(contract.CompileError, "bundle kernels", "%v", err)
	}
	data, err := linked.MarshalBinary()
	if err != nil {
		return nil, err
	}
	meta := map[string]string{"kernels": signatures(linked)}
	if len(meta["kernels"]) > mostSignatures {
		delete(meta, "kernels") // the image contains the names
	}
	entry, err := image.NewEntry(script, data, 0, meta)
	if err != nil {
		return nil, err
	}
	return image.WriteBundle(1, []image.BundleEntry{entry})
}

// relative returns a source's name relative to a folder; names that are not files stay unchanged.
func relative(dir, name string) string {
	path, err := filepath.Abs(name)
	if err != nil || !isFile(path) {
		return name
	}
	if path, err = filepath.Rel(dir, path); err != nil {
		return name
	}
	return filepath.ToSlash(path)
}

// mostSignatures is the maximum number of bytes of signatures in a container, whose readers bound its strings. Longer
// signatures are left out.
const mostSignatures = 32 << 10

// distinctKernels returns modules of one kernel each, sorted by name. A kernel that was compiled for several types has a
// module for each, with the types in its name. Different kernels with equal names and types are an error.
func distinctKernels(compiled []launch.Compilation) ([]*ir.Module, error) {
	type named struct {
		module *ir.Module
		data   []byte
	}
	byName := make(map[string][]named)
	for _, c := range compiled {
		m := c.Kernel.Module.Clone()
		data, err := m.MarshalBinary()
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(byName[c.Name], func(n named) bool { return bytes.Equal(n.data, data) }) {
			byName[c.Name] = append(byName[c.Name], named{m, data})
		}
	}
	var modules []*ir.Module
	for name, list := range byName {
		for _, n := range list {
			k := n.module.Kernels[0]
			if k.Name = name; len(list) > 1 {
				k.Name = name + types(k)
			}
			modules = append(modules, n.module)
		}
	}
	slices.SortFunc(modules, func(a, b *ir.Module) int { return strings.Compare(a.Kernels[0].Name, b.Kernels[0].Name) })
	for i := 1; i < len(modules); i++ {
		if a, b := modules[i-1].Kernels[0], modules[i].Kernels[0]; a.Name == b.Name {
			return nil, contract.Errorf(contract.InvalidArgument, "bundle kernels", "two kernels of the same types are called %s", a.Name).
				WithHint("name one of them: kernel(fn, { name: '…' })")
		}
	}
	return modules, nil
}

// types returns the types of a kernel's parameters, such as (f32, [f32]).
func types(k *ir.Kernel) string {
	var list []string
	for _, p := range k.Params {
		list = append(list, typeOf(&p))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// signatures returns a line for each kernel of a module, with the names and types of its parameters.
func signatures(m *ir.Module) string {
	var list []string
	for _, k := range m.Kernels {
		name, _, _ := strings.Cut(k.Name, "(")
		var params []string
		for _, p := range k.Params {
			params = append(params, p.Name+": "+typeOf(&p))
		}
		list = append(list, name+"("+strings.Join(params, ", ")+")")
	}
	return strings.Join(list, "\n")
}

// typeOf returns a parameter's type in the form of signatures: f32, [f32] or [f32, 2].
func typeOf(p *ir.Param) string {
	switch a := p.Array; {
	case a == nil:
		return p.Type.String()
	case a.Rank == 1:
		return fmt.Sprintf("[%v]", a.Elem)
	default:
		return fmt.Sprintf("[%v, %d]", a.Elem, a.Rank)
	}
}
