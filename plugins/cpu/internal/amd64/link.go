package amd64

import (
	"encoding/binary"
	"errors"
)

// place is the position of a label, as numbers of preceding code bytes and pieces.
type place struct {
	at     int32
	pieces int32
	bound  bool
	used   bool // branched to or addressed
}

// piece is a part of the code whose size depends on the layout: a branch or padding. Its bytes are not in Assembler.code.
type piece struct {
	at    int32 // preceding bytes of Assembler.code
	size  int32
	label Label // the target of a branch; 0 for padding
	align int32
	opc   byte  // opcode of a branch's short form, or trapOpcode
	near  uint8 // the size of the branch's near form
	start int32 // position in the final code
}

// reference is a 32-bit displacement to a label, relative to the end of its instruction. The fields at and pieces are the
// numbers of bytes of Assembler.code and of pieces before the displacement.
type reference struct {
	at       int32
	pieces   int32
	label    Label
	add      int32 // added to the offset of the label
	trailing int32 // bytes of the instruction after the displacement
}

const (
	callOpcode = 0xE8
	trapOpcode = 0xCC // int3: padding that is never executed
)

// NewLabel returns a new label. Code may use it before or after [Assembler.Bind].
func (a *Assembler) NewLabel() Label {
	a.labels = append(a.labels, place{})
	return Label(len(a.labels))
}

// NumLabels returns the number of labels, which are numbered from 1.
func (a *Assembler) NumLabels() int { return len(a.labels) }

// Bind binds the label to the current end of the code.
func (a *Assembler) Bind(l Label) {
	switch {
	case a.err != nil:
	case !a.known(l):
		a.fail("bind: label %d is not of this assembler", l)
	case a.labels[l-1].bound:
		a.fail("bind: label %d is bound already", l)
	default:
		a.labels[l-1] = place{int32(len(a.code)), int32(len(a.pieces)), true, a.labels[l-1].used}
		a.listing.label(l)
	}
}

// Align pads the code with nops to a multiple of n bytes, a power of two up to 64. The code must be loaded at such a
// multiple.
func (a *Assembler) Align(n int) {
	if n < 1 || n > maxAlign || n&(n-1) != 0 {
		a.fail("align: %d is not a power of two up to %d", n, maxAlign)
	}
	if a.err == nil && n > 1 {
		a.pieces = append(a.pieces, piece{at: int32(len(a.code)), align: int32(n)})
		a.listing.align(n)
	}
}

// Offset returns the offset of a bound label in the code, in bytes, or false for other labels. It is valid after
// [Assembler.Finish].
func (a *Assembler) Offset(l Label) (offset int, ok bool) {
	if !a.known(l) || !a.labels[l-1].bound {
		return 0, false
	}
	return int(a.address(a.labels[l-1].at, a.labels[l-1].pieces)), true
}

func (a *Assembler) known(l Label) bool { return l > 0 && int(l) <= len(a.labels) }

func (a *Assembler) branch(opc byte, l Label) {
	if !a.known(l) {
		a.fail("branch: label %d is not of this assembler", l)
		return
	}
	a.labels[l-1].used = true
	p := piece{at: int32(len(a.code)), label: l, opc: opc, size: 2, near: 6}
	switch opc {
	case callOpcode:
		p.size, p.near = 5, 5
	case 0xEB:
		p.near = 5
	}
	a.pieces = append(a.pieces, p)
}

func (a *Assembler) refer(l Label, add int32, trailing int) {
	if !a.known(l) {
		a.fail("address: label %d is not of this assembler", l)
		return
	}
	a.labels[l-1].used = true
	a.refs = append(a.refs, reference{int32(len(a.code)), int32(len(a.pieces)), l, add, int32(trailing)})
}

// address returns the offset in the final code of the position that follows this many bytes of Assembler.code and pieces.
func (a *Assembler) address(at, pieces int32) int32 {
	if pieces == 0 {
		return at
	}
	p := &a.pieces[pieces-1]
	return p.start + p.size + at - p.at
}

// Finish lays out branches (short where in range) and padding, appends the constants, and returns the code, which the caller
// owns. The code must be loaded at a multiple of 64 bytes. The error is the first one of the assembler, or that of a label that
// is used but not bound. The Assembler accepts no more input until [Assembler.Reset].
func (a *Assembler) Finish() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.placeConstants()
	for i := range a.labels {
		if l := &a.labels[i]; l.used && !l.bound {
			a.fail("label %d is used but not bound", i+1)
			return nil, a.err
		}
	}
	a.layOut()
	out := a.write()
	for i := range a.refs {
		r := &a.refs[i]
		t := &a.labels[r.label-1]
		at := a.address(r.at, r.pieces)
		binary.LittleEndian.PutUint32(out[at:], uint32(a.address(t.at, t.pieces)+r.add-(at+4+r.trailing)))
	}
	a.err = errFinished
	return out, nil
}

var errFinished = errors.New("amd64: the code is finished; Reset starts another")

// layOut sizes the pieces: it starts with short branches and lengthens those out of range until all are in range.
func (a *Assembler) layOut() {
	for again := true; again; {
		start, before := int32(0), int32(0)
		for i := range a.pieces {
			p := &a.pieces[i]
			start += p.at - before
			before = p.at
			p.start = start
			if p.align != 0 {
				p.size = -start & (p.align - 1)
			}
			start += p.size
		}
		again = false
		for i := range a.pieces {
			p := &a.pieces[i]
			if p.label == 0 || p.size != 2 {
				continue
			}
			if d := a.distance(p); d != int32(int8(d)) {
				p.size = int32(p.near)
				again = true
			}
		}
	}
}

// distance returns the displacement of a branch.
func (a *Assembler) distance(p *piece) int32 {
	t := &a.labels[p.label-1]
	return a.address(t.at, t.pieces) - (p.start + p.size)
}

// write returns the code with its pieces.
func (a *Assembler) write() []byte {
	size := len(a.code)
	for i := range a.pieces {
		size += int(a.pieces[i].size)
	}
	out := make([]byte, 0, size)
	done := int32(0)
	for i := range a.pieces {
		p := &a.pieces[i]
		out = append(out, a.code[done:p.at]...)
		done = p.at
		switch {
		case p.opc == trapOpcode:
			for range p.size {
				out = append(out, trapOpcode)
			}
		case p.label == 0:
			out = appendNops(out, int(p.size))
		case p.size == 2:
			out = append(out, p.opc, byte(a.distance(p)))
		default:
			switch p.opc {
			case callOpcode:
				out = append(out, callOpcode)
			case 0xEB:
				out = append(out, 0xE9)
			default:
				out = append(out, 0x0F, p.opc+0x10)
			}
			out = binary.LittleEndian.AppendUint32(out, uint32(a.distance(p)))
		}
	}
	return append(out, a.code[done:]...)
}

// nops has the recommended nops of 1 to 9 bytes.
var nops = [...]string{
	1: "\x90",
	2: "\x66\x90",
	3: "\x0F\x1F\x00",
	4: "\x0F\x1F\x40\x00",
	5: "\x0F\x1F\x44\x00\x00",
	6: "\x66\x0F\x1F\x44\x00\x00",
	7: "\x0F\x1F\x80\x00\x00\x00\x00",
	8: "\x0F\x1F\x84\x00\x00\x00\x00\x00",
	9: "\x66\x0F\x1F\x84\x00\x00\x00\x00\x00",
}

func appendNops(b []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(nops)-1)
		b = append(b, nops[k]...)
		n -= k
	}
	return b
}
