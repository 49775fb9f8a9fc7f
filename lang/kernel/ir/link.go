package ir

import (
	"fmt"
	"slices"
)

// Link returns a module with copies of the modules' kernels, or an error if two kernels have one name. Equal records are merged. A
// different record whose name is taken is renamed.
func Link(modules ...*Module) (*Module, error) {
	out := &Module{}
	for _, m := range modules {
		c := m.Clone()
		records := make(map[*Record]*Record)
		for _, r := range c.Records {
			for i := range r.Fields {
				if own := r.Fields[i].Elem.Record; own != nil {
					r.Fields[i].Elem.Record = records[own] // declared before
				}
			}
			records[r] = out.linkRecord(r)
		}
		files := make([]int, len(c.Files))
		for i, name := range c.Files {
			if files[i] = slices.Index(out.Files, name); files[i] < 0 {
				files[i] = len(out.Files)
				out.Files = append(out.Files, name)
			}
		}
		for _, k := range c.Kernels {
			if out.Kernel(k.Name) != nil {
				return nil, fmt.Errorf("two kernels are called %s", quoteName(k.Name))
			}
			for _, a := range k.Arrays {
				if a.Elem.Record != nil {
					a.Elem.Record = records[a.Elem.Record]
				}
			}
			for i := range k.Sites {
				if n := k.Sites[i].File; n < len(files) {
					k.Sites[i].File = files[n]
				}
			}
			out.Kernels = append(out.Kernels, k)
		}
	}
	return out, nil
}

// linkRecord returns the module's record that equals r. If there is none, it adds r and returns it, with a new name if another
// record has its name.
func (m *Module) linkRecord(r *Record) *Record {
	taken := make(map[string]bool)
	for _, have := range m.Records {
		if sameRecord(have, r) {
			return have
		}
		taken[have.Name] = true
	}
	for name, n := r.Name, 2; taken[r.Name]; n++ {
		r.Name = fmt.Sprintf("%s_%d", name, n)
	}
	m.Records = append(m.Records, r)
	return r
}

// sameRecord reports whether two records of one module have the same layout and name.
func sameRecord(a, b *Record) bool {
	return a.Name == b.Name && slices.EqualFunc(a.Fields, b.Fields, func(x, y Field) bool {
		return x.Name == y.Name && x.Elem == y.Elem && slices.Equal(x.Dims, y.Dims)
	})
}
