package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// coder encodes values to buf, or decodes them from its start. One function for both directions describes each message. After
// an error the decoded values are zero.
type coder struct {
	buf     []byte
	reading bool
	err     error
}

var errShort = errors.New("a message ends too early")

// take returns the next n bytes of the input, or nil after an error.
func (c *coder) take(n int) []byte {
	if c.err == nil && (n < 0 || n > len(c.buf)) {
		c.err = errShort
	}
	if c.err != nil {
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

type integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// num codes an integer as width bytes.
func num[T integer](c *coder, p *T, width int) {
	var b [8]byte
	if !c.reading {
		binary.LittleEndian.PutUint64(b[:], uint64(*p))
		c.buf = append(c.buf, b[:width]...)
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

// within codes an integer of 8 bytes, and refuses one outside of lowest to highest.
func within[T ~int | ~int64](c *coder, p *T, lowest, highest T) {
	if num(c, p, 8); c.reading && (*p < lowest || *p > highest) {
		c.fail("a number of %d, outside of %d to %d", *p, lowest, highest)
		*p = lowest
	}
}

func (c *coder) flag(p *bool) {
	var b uint8
	if *p {
		b = 1
	}
	num(c, &b, 1)
	if b > 1 {
		c.fail("a flag is %d", b)
	}
	if c.reading {
		*p = b == 1
	}
}

// length codes the number of elements of a list, each of which takes at least one byte.
func (c *coder) length(n int) int {
	size := uint32(n)
	num(c, &size, 4)
	if c.reading && uint64(size) > uint64(len(c.buf)) {
		c.take(len(c.buf) + 1)
		return 0
	}
	return int(size)
}

func text[T ~string](c *coder, p *T) {
	n := c.length(len(*p))
	if c.reading {
		*p = T(c.take(n))
		return
	}
	c.buf = append(c.buf, *p...)
}

// bytes codes a byte string. The result shares the memory of the input.
func (c *coder) bytes(p *[]byte) {
	n := c.length(len(*p))
	if !c.reading {
		c.buf = append(c.buf, *p...)
	} else if *p = nil; n > 0 {
		*p = c.take(n)
	}
}

// array codes bytes whose number both sides know.
func (c *coder) array(p []byte) {
	if c.reading {
		copy(p, c.take(len(p)))
		return
	}
	c.buf = append(c.buf, p...)
}

func list[T any](c *coder, p *[]T, each func(*coder, *T)) {
	n := c.length(len(*p))
	if c.reading {
		*p = nil
		if n > 0 {
			*p = make([]T, 0, min(n, 1024))
		}
		for range n {
			var v T
			each(c, &v)
			if c.err != nil {
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

func three[T integer](c *coder, p *[3]T, width int) {
	for i := range p {
		num(c, &p[i], width)
	}
}

func (c *coder) position(p *offload.Position) {
	text(c, &p.File)
	num(c, &p.Line, 8)
	num(c, &p.Col, 8)
}

// strings codes a map in the order of its keys.
func (c *coder) strings(p *map[string]string) {
	type pair struct{ key, value string }
	var pairs []pair
	for _, k := range slices.Sorted(maps.Keys(*p)) {
		pairs = append(pairs, pair{k, (*p)[k]})
	}
	list(c, &pairs, func(c *coder, p *pair) { text(c, &p.key); text(c, &p.value) })
	if !c.reading {
		return
	}
	if *p = nil; len(pairs) > 0 {
		*p = make(map[string]string, len(pairs))
	}
	for _, e := range pairs {
		(*p)[e.key] = e.value
	}
}
