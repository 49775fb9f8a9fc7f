package image

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// archive plans the change of an archive's members and of its symbol table, which holds the members' offsets.
func (e *editor) archive(label string, in *input) error {
	if in.has(magicThin) {
		return unsupported(label, "the archive is thin: its images are in the files that it names").
			WithHint("drop images from those files, or make an archive with contents by llvm-ar without --thin")
	}
	a := &archive{in: in, at: uint64(len(magicArchive))}
	var moves []memberMove
	members := 0
	for {
		m, err := a.next()
		if err != nil {
			return err
		}
		if m == nil {
			break
		}
		if members++; members > maxEntryCount {
			return fmt.Errorf("more than %d members", maxEntryCount)
		}
		removed, err := e.member(fmt.Sprintf("%s(%s)", label, m.name), m)
		if err != nil {
			return err
		}
		if removed != 0 {
			moves = append(moves, memberMove{m.headerAt, removed})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	return e.symbolTables(a, moves)
}

// memberMove is the offset of a member's header, and the number of bytes removed from that member.
type memberMove struct{ headerAt, removed uint64 }

// member plans the change of a member and returns the number of removed bytes.
func (e *editor) member(label string, m *member) (removed uint64, err error) {
	sub := &editor{selects: e.selects}
	if m.body.has(magicArchive) || m.body.has(magicThin) {
		return 0, nil // the member is not searched for images
	}
	if err := sub.file(label, m.body); err != nil {
		if m.body.has(magicELF) || m.body.has(magicOffload) || isBundled(m.body) {
			return 0, located(label, err)
		}
		return 0, nil // another file format
	}
	e.contained = e.contained || sub.contained
	e.Kept, e.Dropped = append(e.Kept, sub.Kept...), append(e.Dropped, sub.Dropped...)
	if len(sub.splices) == 0 {
		return 0, nil
	}
	size := m.body.size
	for _, s := range sub.splices {
		size = size - (s.end - s.start) + uint64(len(s.data))
		e.splices = append(e.splices, splice{m.bodyAt + s.start, m.bodyAt + s.end, s.data})
	}
	if size > m.body.size {
		return 0, invalid(label, "without the images it has %d bytes, more than %d before", size, m.body.size)
	}
	if size == m.body.size {
		return 0, nil
	}
	// The size in the header includes a BSD name, which precedes the body.
	field := fmt.Sprintf("%-10d", m.bodyAt-m.headerAt-archiveHeader+size)
	e.splices = append(e.splices, splice{m.headerAt + 48, m.headerAt + 58, []byte(field)})
	removed = m.body.size - size
	if removed%2 == 0 {
		return removed, nil
	}
	end := m.bodyAt + m.body.size
	if (m.bodyAt+m.body.size)%2 == 0 { // the new size is odd
		e.splices = append(e.splices, splice{end, end, []byte{'\n'}})
		return removed - 1, nil
	}
	if m.padded {
		e.splices = append(e.splices, splice{end, end + 1, nil})
		removed++
	}
	return removed, nil
}

// symbolTables updates members' offsets in GNU's and BSD's symbol tables.
func (e *editor) symbolTables(a *archive, moves []memberMove) error {
	moved := func(offset uint64) uint64 {
		to := offset
		for _, m := range moves {
			if m.headerAt >= offset {
				break
			}
			to -= m.removed
		}
		return to
	}
	for _, t := range a.symbolTables {
		data, err := a.in.slice(t.at, t.size)
		if err != nil {
			return err
		}
		out, err := t.rewritten(data, moved)
		if err != nil {
			return fmt.Errorf("the archive's symbol table: %w", err)
		}
		e.splices = append(e.splices, splice{t.at, t.at + t.size, out})
	}
	return nil
}

// symbolTable is an archive member that lists symbols with the offsets of their members.
type symbolTable struct {
	at, size uint64
	word     int  // bytes per number
	bsd      bool // little-endian pairs of name and offset; else big-endian offsets
}

// rewritten returns the table with each offset mapped by moved.
func (t *symbolTable) rewritten(data []byte, moved func(uint64) uint64) ([]byte, error) {
	out := slices.Clone(data)
	var order binary.ByteOrder = binary.BigEndian
	step, first := t.word, 0
	if t.bsd {
		order, step, first = binary.LittleEndian, 2*t.word, t.word
	}
	if len(out) < t.word {
		return nil, fmt.Errorf("%d bytes are truncated", len(out))
	}
	count := t.number(order, out)
	if t.bsd {
		if count%uint64(step) != 0 {
			return nil, fmt.Errorf("%d bytes of entries are no multiple of %d", count, step)
		}
		count /= uint64(step)
	}
	body := out[t.word:]
	if count > uint64(len(body)/step) {
		return nil, fmt.Errorf("%d entries in %d bytes", count, len(body))
	}
	for i := range int(count) {
		field := body[i*step+first:]
		to := moved(t.number(order, field))
		if t.word == 8 {
			order.PutUint64(field, to)
		} else {
			order.PutUint32(field, uint32(to))
		}
	}
	return out, nil
}

// number decodes one number of the table.
func (t *symbolTable) number(order binary.ByteOrder, b []byte) uint64 {
	if t.word == 8 {
		return order.Uint64(b)
	}
	return uint64(order.Uint32(b))
}
