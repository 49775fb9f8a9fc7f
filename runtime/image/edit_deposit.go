package image

import (
	"encoding/binary"
	"fmt"
)

// deposit plans the change of device code outside of LLVM's containers. It changes in place, but for sections of bundled objects
// that no segment maps: these lose their bytes and their name, by which clang-offload-bundler finds them. It returns the cut of such a
// section, else nil.
func (e *editor) deposit(label string, o *object, d *deposit) (*cut, error) {
	switch d.kind {
	case depositBundles:
		list, changed, err := e.bundles(label, d.data, o.in.left)
		if err != nil || !changed {
			return nil, err
		}
		out, err := bundlesInPlace(d.data, list)
		if err == nil {
			e.splices = append(e.splices, splice{d.at, d.at + uint64(len(out)), out})
		}
		return nil, err
	case depositFatbins:
		return nil, e.fatbins(label, o, d)
	}
	if d.dropped() {
		return nil, nil
	}
	e.contained = true
	if !e.choose(d.image(fmt.Sprintf("%s[%d]", label, e.number))) {
		return nil, nil
	}
	if d.kind == depositDescribed || d.flags&flagAllocated != 0 || o.mapped(d.section) {
		e.splices = append(e.splices, splice{d.at, d.at + uint64(len(d.data)), make([]byte, len(d.data))})
		return nil, nil
	}
	c, err := o.shrink(containerSection{section: d.section, index: d.index}, &pruned{})
	if err != nil {
		return nil, err
	}
	if len(o.names) > 0 && o.names[0] == 0 { // the empty name
		at := o.headsAt + uint64(d.index)*sectionBytes
		e.splices = append(e.splices, splice{at, at + 4, make([]byte, 4)})
	}
	return c, nil
}

// fatbins plans the change of concatenated fat binaries. Each keeps its place, to which the program refers; its remaining
// entries move together, and zeros follow.
func (e *editor) fatbins(label string, o *object, d *deposit) error {
	list, err := readFatbins(d.data)
	if err != nil {
		return err
	}
	for _, f := range list {
		e.contained = true
		body := f.body(d.data)
		entries, err := fatbinEntries(body, o.in.left)
		if err != nil {
			return err
		}
		out := make([]byte, 0, len(body))
		for i := range entries {
			if x := &entries[i]; !e.choose(x.image(fmt.Sprintf("%s[%d]", label, e.number), o.in.left)) {
				out = append(out, x.bytes...)
			}
		}
		used := 0
		for i := range entries {
			used += len(entries[i].bytes)
		}
		if len(out) == used {
			continue
		}
		start, body0 := d.at+uint64(f.start), d.at+uint64(f.bodyAt)
		e.splices = append(e.splices, splice{start + 8, start + 16, binary.LittleEndian.AppendUint64(nil, uint64(len(out)))},
			splice{body0, body0 + uint64(len(body)), out[:len(body)]})
	}
	return nil
}
