package image

import (
	"encoding/binary"
	"fmt"
)

// object plans the change of an ELF file. Containers in loaded segments change in place; other sections shrink, and later ones
// move.
func (e *editor) object(label string, o *object) error {
	e.number = 0
	sections, err := o.containers()
	if err != nil {
		return err
	}
	var cuts []cut
	for _, s := range sections {
		p, err := e.containers(label, s.data, o.in.left)
		if err != nil {
			return err
		}
		if !p.changed {
			continue
		}
		var c *cut
		if s.flags&flagAllocated != 0 || o.mapped(s.section) {
			err = e.changeInPlace(o, s, p)
		} else if c, err = o.shrink(s, p); err == nil && c != nil {
			cuts = append(cuts, *c)
			e.splices = append(e.splices, c.splice)
		}
		if err != nil {
			return fmt.Errorf("section %d: %w", s.index, err)
		}
	}
	deposits, err := o.deposits()
	if err != nil {
		return err
	}
	for i := range deposits {
		d := &deposits[i]
		if d.kind == depositDescribed && len(sections) > 0 {
			continue
		}
		c, err := e.deposit(label, o, d)
		if err != nil {
			return fmt.Errorf("section %d, %s: %w", d.index, o.nameOf(d.section), err)
		}
		if c != nil {
			cuts = append(cuts, *c)
			e.splices = append(e.splices, c.splice)
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	return e.move(o, cuts)
}

// changeInPlace changes a section in place. A section without images loses its type, since LLVM's tools expect a container in each
// section of that type. Of containers that a Go program embeds, an empty one remains.
func (e *editor) changeInPlace(o *object, s containerSection, p *pruned) error {
	out, err := p.inPlace()
	if err != nil {
		return err
	}
	start := s.offset + uint64(s.from)
	e.splices = append(e.splices, splice{start, start + uint64(len(out)), out})
	if !allZero(out) {
		return nil
	}
	if s.kind == sectionOffloading {
		at := o.headsAt + uint64(s.index)*sectionBytes + 4
		e.splices = append(e.splices, splice{at, at + 4, binary.LittleEndian.AppendUint32(nil, sectionProgramBits)})
		return nil
	}
	if s.embedded { // the program registers the bytes, so an empty container remains
		empty := writeBlob(2, nil)
		if len(out) < len(empty) {
			return fmt.Errorf("%d bytes are too few for an empty container", len(out))
		}
		copy(out, empty)
		setBlobSize(out)
	}
	return nil
}

// cut is the replacement of a section's contents by fewer bytes.
type cut struct {
	splice
	index uint32 // index of the section header
	size  uint64 // size of the new contents, without padding
}

// removed returns the number of removed bytes.
func (c *cut) removed() uint64 { return c.end - c.start - uint64(len(c.data)) }

// shrink returns the cut of a section that no segment maps. Later sections move by a multiple of their largest alignment.
func (o *object) shrink(s containerSection, p *pruned) (*cut, error) {
	out, err := p.shrunk()
	if err != nil {
		return nil, err
	}
	size := uint64(len(out))
	if size > s.size {
		return nil, fmt.Errorf("without the images it has %d bytes, more than %d before", size, s.size)
	}
	align, err := o.alignmentBehind(s.offset)
	if err != nil {
		return nil, err
	}
	removed := (s.size - size) / align * align
	data := append(out, make([]byte, s.size-removed-size)...)
	return &cut{splice{s.offset, s.offset + s.size, data}, s.index, size}, nil
}

// maxAlignment is the largest alignment that a moved section keeps, in bytes.
const maxAlignment = 1 << 30

// alignmentBehind returns the largest alignment of sections and segments after an offset, at least that of the tables.
func (o *object) alignmentBehind(offset uint64) (uint64, error) {
	align := uint64(8)
	check := func(at, a uint64) error {
		if at <= offset || a <= align {
			return nil
		}
		if a&(a-1) != 0 || a > maxAlignment {
			return fmt.Errorf("an alignment of %d", a)
		}
		align = a
		return nil
	}
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if err := check(s.offset, s.align); err != nil {
			return 0, err
		}
	}
	le := binary.LittleEndian
	for h := o.segments; len(h) >= segmentBytes; h = h[segmentBytes:] {
		if err := check(le.Uint64(h[8:]), le.Uint64(h[48:])); err != nil {
			return 0, err
		}
	}
	return align, nil
}

// mapped reports whether a segment contains bytes of the section.
func (o *object) mapped(s section) bool {
	le := binary.LittleEndian
	for h := o.segments; len(h) >= segmentBytes; h = h[segmentBytes:] {
		start, size := le.Uint64(h[8:]), le.Uint64(h[32:])
		if start < s.offset+s.size && s.offset < start+size {
			return true
		}
	}
	return false
}

// move plans changes of tables for the cuts: offsets after a cut, and sizes of cut sections.
func (e *editor) move(o *object, cuts []cut) error {
	le := binary.LittleEndian
	// moved maps an old offset to the new one; offsets in removed parts are errors.
	moved := func(offset, size uint64) (uint64, error) {
		to := offset
		for i := range cuts {
			c := &cuts[i]
			switch {
			case offset >= c.end:
				to -= c.removed()
			case offset+size > c.start:
				return 0, fmt.Errorf("its tables overlap: %d bytes at %d are within section %d", size, offset, c.index)
			}
		}
		return to, nil
	}
	patch := func(at uint64, word, size uint64) error {
		to, err := moved(word, size)
		if err == nil && to != word {
			e.splices = append(e.splices, splice{at, at + 8, le.AppendUint64(nil, to)})
		}
		return err
	}
	for _, table := range []struct{ at, offset, size uint64 }{
		{32, o.segmentsAt, uint64(len(o.segments))}, {40, o.headsAt, uint64(len(o.heads))},
	} {
		if err := patch(table.at, table.offset, table.size); err != nil {
			return err
		}
	}
	for i, h := uint64(0), o.segments; len(h) >= segmentBytes; i, h = i+1, h[segmentBytes:] {
		if err := patch(o.segmentsAt+i*segmentBytes+8, le.Uint64(h[8:]), le.Uint64(h[32:])); err != nil {
			return err
		}
	}
sections:
	for i := uint32(1); i < o.sections(); i++ {
		at := o.headsAt + uint64(i)*sectionBytes
		s, _ := o.section(i)
		for k := range cuts {
			c := &cuts[k]
			if c.index != i {
				continue
			}
			e.splices = append(e.splices, splice{at + 32, at + 40, le.AppendUint64(nil, c.size)})
			to := c.start
			for j := range cuts {
				if cuts[j].end <= c.start {
					to -= cuts[j].removed()
				}
			}
			if to != c.start {
				e.splices = append(e.splices, splice{at + 24, at + 32, le.AppendUint64(nil, to)})
			}
			continue sections
		}
		size := s.size
		if s.kind == sectionNoBits {
			size = 0
		}
		if err := patch(at+24, s.offset, size); err != nil {
			return err
		}
	}
	return nil
}
