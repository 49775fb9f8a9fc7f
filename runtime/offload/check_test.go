package offload

import (
	"math"
	"strings"
	"testing"
)

// block is memory without contents.
type block int64

func (b block) Size() int64      { return int64(b) }
func (b block) Kind() MemoryKind { return 0 }
func (b block) Bytes() []byte    { return nil }
func (b block) Free() error      { return nil }

func TestParamCheck(t *testing.T) {
	scalar, matrix, any := Param{Name: "n", Type: I32, Elem: 4}, Param{Name: "m", Buffer: true, Type: F32, Elem: 4, Rank: 2}, Param{Name: "b", Buffer: true}
	record := Param{Name: "r", Elem: 12, Fields: []Field{}}
	const most = math.MaxInt32
	for _, c := range []struct {
		p    Param
		a    Arg
		want string // "" if it is right
	}{
		{scalar, Arg{Type: I32}, ""},
		{scalar, Arg{Type: F32}, "parameter n has type i32, and the argument type f32"},
		{scalar, Arg{Type: I32, Memory: block(4)}, "is a scalar"},
		{matrix, Arg{Type: F32, Memory: block(24), Dims: [3]int32{2, 3}}, ""},
		{matrix, Arg{Type: F32, Memory: block(24), Dims: [3]int32{0, most}, Offset: 24}, ""},
		{matrix, Arg{Type: F32, Memory: block(23), Dims: [3]int32{2, 3}}, "extents [2 3] of 4 bytes"},
		{matrix, Arg{Type: F32, Memory: block(28), Dims: [3]int32{2, 3}, Offset: 8}, "extents"},
		{matrix, Arg{Type: F32, Memory: block(24), Dims: [3]int32{-2, -3}}, "extents"},
		{matrix, Arg{Type: F32, Memory: block(24), Dims: [3]int32{most, most}}, "extents"},
		{matrix, Arg{Type: F32, Memory: block(24), Offset: 25}, "offset 25"},
		{matrix, Arg{Type: F32, Memory: block(24), Offset: -1}, "offset -1"},
		{matrix, Arg{Type: I32, Memory: block(24)}, "is a buffer of f32, and the argument one of i32"},
		{matrix, Arg{Type: F32}, "is a buffer, and the argument none"},
		{any, Arg{Type: I32, Memory: block(8), Offset: 8}, ""},
		{any, Arg{Memory: block(8), Offset: 9}, "offset 9"},
		{record, Arg{Data: make([]byte, 12)}, ""},
		{record, Arg{Data: make([]byte, 8)}, "a struct of 12 bytes, and the argument has 8"},
	} {
		size := int64(0)
		if c.a.Memory != nil {
			size = c.a.Memory.Size()
		}
		err := c.p.Check(&c.a, size)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v with %+v: %v, want %q", c.p, c.a, err, c.want)
		}
	}
}
