// Package wire encodes and decodes the fields of messages. Integers have a fixed width and are little-endian; lists, texts and byte
// strings come after their length of four bytes.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// Coder encodes values to the end of Buf, or decodes them from its start if Reading is set. To code a value is to do either: one function
// for both directions describes each message. Values decoded after an error are zero.
type Coder struct {
	Buf     []byte
	Reading bool
	Err     error
}

var errShort = errors.New("a message ends too early")

// take returns the next n bytes of the input, or nil after an error.
func (c *Coder) take(n int) []byte {
	if c.Err == nil && (n < 0 || n > len(c.Buf)) {
		c.Err = errShort
	}
	if c.Err != nil {
		return nil
	}
	b := c.Buf[:n:n]
	c.Buf = c.Buf[n:]
	return b
}

// Fail records an error. Only the first one is kept.
func (c *Coder) Fail(format string, args ...any) {
	if c.Err == nil {
		c.Err = fmt.Errorf(format, args...)
	}
}

// integer is the constraint of the types that Num codes.
type integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// Num codes an integer as width bytes.
func Num[T integer](c *Coder, p *T, width int) {
	var b [8]byte
	if !c.Reading {
		binary.LittleEndian.PutUint64(b[:], uint64(*p))
		c.Buf = append(c.Buf, b[:width]...)
		return
	}
	copy(b[:], c.take(width))
	v := binary.LittleEndian.Uint64(b[:])
	if *p = 0; *p-1 < *p { // a signed type
		shift := 64 - 8*width
		*p = T(int64(v<<shift) >> shift)
		return
	}
	*p = T(v)
}

// Within codes an integer as 8 bytes. Decoding fails for one outside of lowest to highest, and sets *p to lowest.
func Within[T ~int | ~int64](c *Coder, p *T, lowest, highest T) {
	if Num(c, p, 8); c.Reading && (*p < lowest || *p > highest) {
		c.Fail("a number of %d, outside of %d to %d", *p, lowest, highest)
		*p = lowest
	}
}

// Flag codes a bool.
func (c *Coder) Flag(p *bool) {
	var b uint8
	if *p {
		b = 1
	}
	Num(c, &b, 1)
	if b > 1 {
		c.Fail("a flag is %d", b)
	}
	if c.Reading {
		*p = b == 1
	}
}

// length codes n, the number of elements of a list, and returns the number. Each element takes at least one byte, so decoding fails for
// a number that exceeds the remaining bytes.
func (c *Coder) length(n int) int {
	size := uint32(n)
	Num(c, &size, 4)
	if c.Reading && uint64(size) > uint64(len(c.Buf)) {
		c.take(len(c.Buf) + 1)
		return 0
	}
	return int(size)
}

// Text codes a text: its length, and its bytes.
func Text[T ~string](c *Coder, p *T) {
	n := c.length(len(*p))
	if c.Reading {
		*p = T(c.take(n))
		return
	}
	c.Buf = append(c.Buf, *p...)
}

// Bytes codes a byte string. A decoded one shares the memory of the input, and is nil if it is empty.
func (c *Coder) Bytes(p *[]byte) {
	n := c.length(len(*p))
	if !c.Reading {
		c.Buf = append(c.Buf, *p...)
	} else if *p = nil; n > 0 {
		*p = c.take(n)
	}
}

// Array codes the bytes of p without their number, which both sides know.
func (c *Coder) Array(p []byte) {
	if c.Reading {
		copy(p, c.take(len(p)))
		return
	}
	c.Buf = append(c.Buf, p...)
}

// List codes a list by calling each for its elements. A decoded list is nil if it is empty, or after an error.
func List[T any](c *Coder, p *[]T, each func(*Coder, *T)) {
	n := c.length(len(*p))
	if c.Reading {
		*p = nil
		if n > 0 {
			*p = make([]T, 0, min(n, 1024))
		}
		for range n {
			var v T
			each(c, &v)
			if c.Err != nil {
				*p = nil
				return
			}
			*p = append(*p, v)
		}
		return
	}
	for i := range *p {
		each(c, &(*p)[i])
	}
}

// Three codes three integers as width bytes each.
func Three[T integer](c *Coder, p *[3]T, width int) {
	for i := range p {
		Num(c, &p[i], width)
	}
}

// Position codes a position in a script.
func (c *Coder) Position(p *offload.Position) {
	Text(c, &p.File)
	Num(c, &p.Line, 8)
	Num(c, &p.Col, 8)
}

// Strings codes a map in the order of its keys. A decoded map is nil if it is empty.
func (c *Coder) Strings(p *map[string]string) {
	type pair struct{ key, value string }
	var pairs []pair
	for _, k := range slices.Sorted(maps.Keys(*p)) {
		pairs = append(pairs, pair{k, (*p)[k]})
	}
	List(c, &pairs, func(c *Coder, p *pair) { Text(c, &p.key); Text(c, &p.value) })
	if !c.Reading {
		return
	}
	if *p = nil; len(pairs) > 0 {
		*p = make(map[string]string, len(pairs))
	}
	for _, e := range pairs {
		(*p)[e.key] = e.value
	}
}
