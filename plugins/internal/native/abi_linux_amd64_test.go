//go:build !nonative

package native

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/clang"
)

var cTypes = map[offload.Type]string{
	offload.Bool: "_Bool", offload.I8: "int8_t", offload.U8: "uint8_t", offload.I16: "int16_t", offload.U16: "uint16_t", offload.I32: "int32_t",
	offload.U32: "uint32_t", offload.I64: "int64_t", offload.U64: "uint64_t", offload.F16: "_Float16", offload.F32: "float", offload.F64: "double",
}

var scalarTypes = []offload.Type{offload.Bool, offload.I8, offload.U8, offload.I16, offload.U16, offload.I32, offload.U32, offload.I64, offload.U64,
	offload.F16, offload.F32, offload.F64}

// function is a random C function that stores the bytes of its arguments.
type function struct {
	sig    offload.Signature
	source string
	values []Value
	want   []byte
}

// randomFunction returns a function of up to 14 parameters, which fill registers and stack.
func randomFunction(r *rand.Rand, n int, convention offload.Convention) *function {
	f := &function{sig: offload.Signature{Convention: convention, Axes: 1 + r.IntN(3)}}
	var head, params, body strings.Builder
	store := func(expr, ctype string) {
		fmt.Fprintf(&body, "  { %s v = %s; memcpy(out, &v, sizeof v); out += sizeof v; }\n", ctype, expr)
	}
	store64 := func(expr string, want uint64) {
		store(expr, "uint64_t")
		f.want = binary.LittleEndian.AppendUint64(f.want, want)
	}
	switch convention {
	case offload.PerItem:
		for i := range f.sig.Axes {
			fmt.Fprintf(&params, "int64_t c%d, ", i)
			store64(fmt.Sprintf("c%d", i), 0)
		}
	case offload.PerRange:
		params.WriteString("int64_t first, int64_t last, ")
		store64("first", 0)
		store64("last", 1)
	}
	params.WriteString("char *out")
	f.sig.Params = append(f.sig.Params, offload.Param{Buffer: true})
	f.values = append(f.values, Value{})
	for i := range r.IntN(14) {
		if r.IntN(4) > 0 {
			t := scalarTypes[r.IntN(len(scalarTypes))]
			bits := r.Uint64() >> (64 - 8*t.Size())
			if t == offload.Bool {
				bits &= 1
			}
			fmt.Fprintf(&params, ", %s a%d", cTypes[t], i)
			store(fmt.Sprintf("a%d", i), cTypes[t])
			f.sig.Params = append(f.sig.Params, offload.Param{Type: t})
			f.values = append(f.values, Value{Bits: bits})
			f.want = append(f.want, binary.LittleEndian.AppendUint64(nil, bits)[:t.Size()]...)
			continue
		}
		fmt.Fprintf(&head, "struct s%d_%d {", n, i)
		p := offload.Param{Fields: []offload.Field{}}
		align := 1
		for k := range 1 + r.IntN(5) {
			t := scalarTypes[r.IntN(len(scalarTypes))]
			p.Elem = (p.Elem + t.Size() - 1) / t.Size() * t.Size()
			p.Fields = append(p.Fields, offload.Field{Type: t, Offset: p.Elem})
			p.Elem += t.Size()
			align = max(align, t.Size())
			fmt.Fprintf(&head, " %s f%d;", cTypes[t], k)
			store(fmt.Sprintf("a%d.f%d", i, k), cTypes[t])
		}
		head.WriteString(" };\n")
		p.Elem = (p.Elem + align - 1) / align * align
		data := make([]byte, p.Elem)
		for _, field := range p.Fields {
			part := data[field.Offset : field.Offset+field.Type.Size()]
			for j := range part {
				part[j] = byte(r.Uint32())
			}
			if field.Type == offload.Bool {
				part[0] &= 1
			}
			f.want = append(f.want, part...)
		}
		fmt.Fprintf(&params, ", struct s%d_%d a%d", n, i, i)
		f.sig.Params = append(f.sig.Params, p)
		f.values = append(f.values, Value{Data: data})
	}
	f.source = fmt.Sprintf("%svoid f%d(%s) {\n%s}\n", head.String(), n, params.String(), body.String())
	return f
}

// TestArguments calls C functions with random parameter lists, compiled by clang, and compares the received bytes.
func TestArguments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 13))
	source := "#include <stdint.h>\n#include <string.h>\n"
	var functions []*function
	for n := range 400 {
		f := randomFunction(r, n, []offload.Convention{offload.PerItem, offload.PerRange}[n%2])
		functions = append(functions, f)
		source += f.source
	}
	img, err := Load(t.Context(), "arguments", clang.SharedObject(t, source))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	c, err := img.NewCaller()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	var stop atomic.Bool
	var words Words
	for n, f := range functions {
		l, err := NewLayout(&f.sig)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(f.want)+8)
		f.values[0].Bits = uint64(uintptr(unsafe.Pointer(&got[0])))
		words.Set(l, f.values)
		_, fn, _ := img.Lookup(fmt.Sprintf("f%d", n))
		if f.sig.Convention == offload.PerItem {
			err = c.Items(fn, &words, [3]int{1, 1, 1}, 0, 1, &stop)
		} else {
			err = c.Range(fn, &words, 0, 1, &stop)
		}
		if err != nil || string(got[:len(f.want)]) != string(f.want) {
			t.Fatalf("%v\n%sgot  %x\nwant %x", err, f.source, got, f.want)
		}
	}
}

// TestItems checks the coordinates of partial launches with one to three axes.
func TestItems(t *testing.T) {
	img, err := Load(t.Context(), "items", clang.SharedObject(t, `
#include <stdint.h>
void one(int64_t x, uint8_t *out) { out[x]++; }
void two(int64_t x, int64_t y, uint8_t *out, int64_t w) { out[y*w+x]++; }
void three(int64_t x, int64_t y, int64_t z, uint8_t *out, int64_t w, int64_t h) { out[(z*h+y)*w+x]++; }
`))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	c, err := img.NewCaller()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	var stop atomic.Bool
	for axes, name := range []string{"", "one", "two", "three"} {
		if axes == 0 {
			continue
		}
		size := [3]int{7, 5, 3}
		items := 1
		for i := range size {
			if i >= axes {
				size[i] = 1
			}
			items *= size[i]
		}
		params := []offload.Param{{Buffer: true}, {Type: offload.I64}, {Type: offload.I64}}[:axes]
		l, err := NewLayout(&offload.Signature{Convention: offload.PerItem, Axes: axes, Params: params})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, items+1)
		var w Words
		w.Set(l, []Value{{Bits: uint64(uintptr(unsafe.Pointer(&out[0])))}, {Bits: 7}, {Bits: 5}}[:axes])
		_, fn, _ := img.Lookup(name)
		for first := 0; first < items; first += 4 {
			if err := c.Items(fn, &w, size, first, min(first+4, items), &stop); err != nil {
				t.Fatal(err)
			}
		}
		for i, n := range out[:items] {
			if n != 1 {
				t.Errorf("%s: item %d ran %d times", name, i, n)
			}
		}
		if out[items] != 0 {
			t.Errorf("%s ran an item too many", name)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	for _, c := range []struct {
		sig  offload.Signature
		want string
	}{
		{offload.Signature{}, "needs a convention"},
		{offload.Signature{Convention: 77}, "convention(77)"},
		{offload.Signature{Convention: offload.PerItem, Axes: 4}, "1 to 3 coordinates"},
		{offload.Signature{Convention: offload.PerRange, Params: []offload.Param{{}}}, "parameter 1: a scalar needs a type"},
		{offload.Signature{Convention: offload.PerRange, Params: []offload.Param{{Elem: 8, Fields: []offload.Field{{Type: offload.I64, Offset: 4}}}}}, "not within"},
		{offload.Signature{Convention: offload.PerRange, Params: []offload.Param{{Elem: 1 << 20, Fields: []offload.Field{}}}}, "cannot be passed by value"},
		{offload.Signature{Convention: offload.OutlinedOpenMP, Params: []offload.Param{{Fields: []offload.Field{}}}}, "cannot be passed by value"},
		{offload.Signature{Convention: offload.PerRange, Params: make([]offload.Param, 0)}, ""},
	} {
		_, err := NewLayout(&c.sig)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.sig, err, c.want)
		}
	}
}

// TestFieldBeyondStruct checks that fields outside of their struct are rejected, including offsets that overflow.
func TestFieldBeyondStruct(t *testing.T) {
	for _, offset := range []int{-8, 5, 8, math.MaxInt - 3, math.MaxInt} {
		l := Layout{}
		p := offload.Param{Elem: 8, Fields: []offload.Field{{Type: offload.I32, Offset: offset}}}
		if _, err := l.classify(&p); err == nil || !strings.Contains(err.Error(), "struct") {
			t.Errorf("offset %d: %v", offset, err)
		}
	}
}
