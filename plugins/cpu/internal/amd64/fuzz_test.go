package amd64

import (
	"encoding/binary"
	"testing"
)

// FuzzEmit emits arbitrary operands: each instruction becomes an error, or code of a valid length.
func FuzzEmit(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		a := New(AllFeatures)
		next := func() (v uint64) {
			var b [8]byte
			data = data[copy(b[:], data):]
			return binary.LittleEndian.Uint64(b[:])
		}
		for len(data) > 0 && a.Err() == nil {
			op := Op(next() % uint64(numOps+2))
			var args []Operand
			for range next() % 6 {
				v := next()
				w := next()
				switch v % 8 {
				case 0, 1, 2:
					args = append(args, Reg(w))
				case 3, 4:
					args = append(args, Mem{Base: Reg(w), Index: Reg(w >> 16), Mask: Reg(w>>32) % (K7 + 2), Scale: uint8(v >> 8),
						Size: uint8(v >> 16), Broadcast: v>>24&1 != 0, Disp: int32(v >> 32), Label: Label(w>>48) % 3})
				case 5:
					args = append(args, Imm(w))
				case 6:
					args = append(args, Label(w%4), Rounding(w>>8))
				case 7:
					args = append(args, nil, Prefix(w))
				}
			}
			before := len(a.code)
			if next()%4 == 0 {
				a.Bind(a.NewLabel())
			}
			a.StartListing()
			a.Emit(op, args...)
			if n := len(a.code) - before; n > 15 {
				t.Fatalf("%s: %d bytes", a.Listing(), n)
			}
		}
		_, _ = a.Finish()
	})
}
