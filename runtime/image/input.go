package image

import (
	"bytes"
	"fmt"
	"io"
)

const (
	chunk      = 64 << 10 // maximum number of bytes of relocations that are read at once
	extraBytes = 1 << 20  // slack in bytes for repeated reads of small files
	readRatio  = 4        // bytes that may be read for each byte of the file
)

// input is a file or a part of one. Only the requested parts are read.
type input struct {
	mem        []byte      // contents, if in memory
	r          io.ReaderAt // source of the contents otherwise
	base, size uint64
	left       *budget
}

// newInput returns an input in memory. Its slices share memory with data.
func newInput(data []byte) *input {
	size := uint64(len(data))
	return &input{mem: data, size: size, left: newBudget(size)}
}

// slice returns n bytes at offset off and charges them to the budget, which refuses files whose tables overlap.
func (in *input) slice(off, n uint64) ([]byte, error) {
	if err := in.within(off, n); err != nil {
		return nil, err
	}
	if n > in.left.read {
		return nil, fmt.Errorf("its tables overlap: more is read than %d times its size", readRatio)
	}
	in.left.read -= n
	return in.load(off, n)
}

// load returns n bytes at offset off, which lie within the input.
func (in *input) load(off, n uint64) ([]byte, error) {
	if in.r == nil {
		return in.mem[off : off+n : off+n], nil
	}
	data := make([]byte, n)
	if n == 0 {
		return data, nil
	}
	if k, err := in.r.ReadAt(data, int64(in.base+off)); uint64(k) < n {
		return nil, fmt.Errorf("%d bytes at %d cannot be read: %w", n, in.base+off, err)
	}
	return data, nil
}

func (in *input) within(off, n uint64) error {
	if off > in.size || n > in.size-off {
		return fmt.Errorf("%d bytes at %d reach beyond the end, at %d", n, off, in.size)
	}
	return nil
}

// part returns n bytes at offset off as an input with the same budget.
func (in *input) part(off, n uint64) (*input, error) {
	if err := in.within(off, n); err != nil {
		return nil, err
	}
	p := *in
	p.size = n
	if in.r == nil {
		p.mem = in.mem[off : off+n : off+n]
	} else {
		p.base += off
	}
	return &p, nil
}

// has reports whether the input begins with magic.
func (in *input) has(magic []byte) bool {
	if in.size < uint64(len(magic)) {
		return false
	}
	head, err := in.load(0, uint64(len(magic)))
	return err == nil && bytes.Equal(head, magic)
}

// all returns the whole input.
func (in *input) all() ([]byte, error) { return in.slice(0, in.size) }

// text returns the NUL-terminated string at offset off, and charges its length to the budget of strings. It is an error if
// there is no NUL before offset end, or the string is longer than maxStringLength.
func (in *input) text(off, end uint64) (string, error) {
	end = min(end, in.size)
	for n := uint64(128); off < end; n *= 8 {
		n = min(n, end-off, maxStringLength+1)
		b, err := in.load(off, n)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return in.left.text(b[:i])
		}
		if n == end-off || n > maxStringLength {
			break
		}
	}
	return "", fmt.Errorf("the string at %d has no end", off)
}
