package amd64

import (
	"encoding/binary"
	"sort"
)

// maxAlign is the largest alignment within the code and its pool, in bytes.
const maxAlign = 64

// pool holds the constants of the code. Equal constants share an entry.
type pool struct {
	known   map[string]int // by content: the index in entries
	entries []constant
	scratch [8]byte
}

type constant struct {
	data  string
	align int
	label Label
}

func (p *pool) reset() {
	clear(p.known)
	p.entries = p.entries[:0]
}

// Const returns the label of a constant, which Finish places after the code at a multiple of align, a power of two up to 64.
// Equal constants share one place.
func (a *Assembler) Const(data []byte, align int) Label {
	if align < 1 || align > maxAlign || align&(align-1) != 0 {
		a.fail("constant: alignment %d is not a power of two up to %d", align, maxAlign)
	}
	if len(data) == 0 {
		a.fail("constant: no data")
	}
	if i, ok := a.pool.known[string(data)]; ok {
		c := &a.pool.entries[i]
		c.align = max(c.align, align)
		return c.label
	}
	if a.pool.known == nil {
		a.pool.known = make(map[string]int)
	}
	c := constant{string(data), align, a.NewLabel()}
	a.pool.known[c.data] = len(a.pool.entries)
	a.pool.entries = append(a.pool.entries, c)
	return c.label
}

// Const32 returns a memory operand for the 32-bit constant.
func (a *Assembler) Const32(v uint32) Mem {
	binary.LittleEndian.PutUint32(a.pool.scratch[:], v)
	return Mem{Label: a.Const(a.pool.scratch[:4], 4)}
}

// Const64 returns a memory operand for the 64-bit constant.
func (a *Assembler) Const64(v uint64) Mem {
	binary.LittleEndian.PutUint64(a.pool.scratch[:], v)
	return Mem{Label: a.Const(a.pool.scratch[:8], 8)}
}

// placeConstants appends the constants to the code, the most aligned first, and binds their labels.
func (a *Assembler) placeConstants() {
	if len(a.pool.entries) == 0 {
		return
	}
	entries := a.pool.entries
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].align > entries[j].align })
	a.pieces = append(a.pieces, piece{at: int32(len(a.code)), align: maxAlign, opc: trapOpcode})
	size := 0
	for _, c := range entries {
		for size&(c.align-1) != 0 {
			a.code = append(a.code, 0)
			size++
		}
		a.labels[c.label-1] = place{int32(len(a.code)), int32(len(a.pieces)), true, true}
		a.code = append(a.code, c.data...)
		size += len(c.data)
	}
}
