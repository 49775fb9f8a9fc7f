package native

import (
	"encoding/binary"
	"unsafe"
)

// Value is an argument of a call.
type Value struct {
	Bits uint64 // bits of a scalar, zero-extended, or the address of a buffer
	Data []byte // bytes of an aggregate, which Set copies
}

// Words are the register and stack words of a call. The methods of [Caller] set the leading words, such as coordinates.
type Words struct {
	layout *Layout
	words  []uint64
	copies []uint64 // copies of aggregates that are passed by address
}

// Set stores the arguments of a launch, which must match the layout, as words.
func (w *Words) Set(l *Layout, values []Value) {
	w.layout = l
	n := firstStack + l.stack
	if cap(w.words) < n {
		w.words = make([]uint64, n)
	}
	w.words = w.words[:n]
	clear(w.words)
	w.copies = w.copies[:0]
	for i := range values {
		if l.places[i].copy {
			w.copies = append(w.copies, make([]uint64, (len(values[i].Data)+7)/8)...)
		}
	}
	copied := 0
	for i := range values {
		v, p, at := &values[i], &l.params[i], &l.places[i]
		switch {
		case at.copy:
			n := (len(v.Data) + 7) / 8
			putWords(w.copies[copied:copied+n], v.Data)
			w.words[at.words[0]] = uint64(uintptr(unsafe.Pointer(&w.copies[copied])))
			copied += n
		case p.Aggregate() && at.count <= 2:
			var two [2]uint64
			putWords(two[:at.count], v.Data)
			for k := range at.count {
				w.words[at.words[k]] = two[k]
			}
		case p.Aggregate():
			putWords(w.words[at.words[0]:at.words[0]+at.count], v.Data)
		case p.Buffer: // the address of the elements
			w.words[at.words[0]] = v.Bits
		default:
			w.words[at.words[0]] = extended(p.Type, v.Bits)
		}
	}
}

// putWords stores bytes in words, zero-padded.
func putWords(words []uint64, data []byte) {
	for i := range words {
		var b [8]byte
		copy(b[:], data[min(8*i, len(data)):])
		words[i] = binary.LittleEndian.Uint64(b[:])
	}
}
