package fs

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// A numeric type as NumPy and as scripts name it.
type numeric struct {
	dtype, class string
	size         int
}

var numerics = []numeric{
	{"|i1", "Int8Array", 1}, {"|u1", "Uint8Array", 1}, {"|b1", "Uint8Array", 1},
	{"<i2", "Int16Array", 2}, {"<u2", "Uint16Array", 2}, {"<i4", "Int32Array", 4}, {"<u4", "Uint32Array", 4},
	{"<f4", "Float32Array", 4}, {"<f8", "Float64Array", 8}, {"<i8", "BigInt64Array", 8}, {"<u8", "BigUint64Array", 8},
	{"<f2", "Uint16Array", 2}, // scripts have no half floats: their bits
}

const npyMagic = "\x93NUMPY"

// npyHeaderFields finds descr, fortran_order and shape, in any order. Compiled when first used.
var npyHeaderFields = sync.OnceValue(func() [3]*regexp.Regexp {
	return [3]*regexp.Regexp{
		regexp.MustCompile(`'descr':\s*'([^']*)'`),
		regexp.MustCompile(`'fortran_order':\s*(True|False)`),
		regexp.MustCompile(`'shape':\s*\(([^)]*)\)`),
	}
})

// npyFile is a decoded file.
type npyFile struct {
	numeric
	shape []int
	data  []byte // aligned for the type
}

func readNPY(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(context.Context) (result, error) {
		raw, err := f.ReadFile(path)
		if err != nil {
			return nil, lang.FileError("read", name, err)
		}
		n, err := parseNPY(raw)
		if err != nil {
			return nil, diag.New("invalid-file", "read %s: %v", name, err)
		}
		return func() (goja.Value, error) {
			array, err := f.TypedArray(n.class, n.data)
			if err != nil {
				return nil, err
			}
			o := bindings.NewExports(f.Engine)
			o.Set("dtype", n.dtype)
			shape := make([]any, len(n.shape))
			for i, d := range n.shape {
				shape[i] = d
			}
			o.Set("shape", f.VM().NewArray(shape...))
			o.Set("data", array)
			return o.Done()
		}, nil
	}
}

func parseNPY(raw []byte) (*npyFile, error) {
	if !bytes.HasPrefix(raw, []byte(npyMagic)) || len(raw) < 10 {
		return nil, fmt.Errorf("this is no NPY file")
	}
	begin, length := 10, int(binary.LittleEndian.Uint16(raw[8:]))
	if raw[6] >= 2 {
		if len(raw) < 12 {
			return nil, fmt.Errorf("the file ends in its header")
		}
		begin, length = 12, int(binary.LittleEndian.Uint32(raw[8:]))
	}
	if length > len(raw)-begin {
		return nil, fmt.Errorf("the file ends in its header")
	}
	header := string(raw[begin : begin+length])
	fields := npyHeaderFields()
	descr, order, shape := fields[0].FindStringSubmatch(header), fields[1].FindStringSubmatch(header), fields[2].FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return nil, fmt.Errorf("the header lacks descr, fortran_order or shape")
	}
	n := &npyFile{}
	for _, t := range numerics {
		if t.dtype == descr[1] {
			n.numeric = t
		}
	}
	if n.class == "" {
		return nil, fmt.Errorf("elements of type %q have no typed array; save them as little-endian numbers", descr[1])
	}
	count := 1
	for field := range strings.SplitSeq(shape[1], ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		d, err := strconv.Atoi(field)
		if err != nil || d < 0 || d > 0 && count > len(raw)/d {
			return nil, fmt.Errorf("the shape (%s) does not fit the file", shape[1])
		}
		n.shape = append(n.shape, d)
		count *= d
	}
	if order[1] == "True" && len(n.shape) > 1 {
		return nil, fmt.Errorf("the array is in Fortran order; save it with order='C'")
	}
	rest := raw[begin+length:]
	if count*n.size != len(rest) {
		return nil, fmt.Errorf("the shape (%s) needs %d bytes, the file has %d", shape[1], count*n.size, len(rest))
	}
	n.data = append(make([]byte, 0, len(rest)), rest...) // a new allocation is aligned, the middle of a file is not
	return n, nil
}

func writeNPY(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	data := append([]byte(nil), a.Bytes(1, "data")...)
	t, ok := numericOf(a.Value(1))
	if !ok {
		a.Fail("data", "must be a typed array")
		return nil
	}
	shape := []int{len(data) / t.size}
	if o := a.Object(2, "shape"); o != nil {
		shape = shape[:0]
		count := 1
		for _, key := range o.Keys() {
			d := int(o.Get(key).ToInteger())
			shape = append(shape, d)
			count *= d
		}
		if count*t.size != len(data) {
			a.Fail("shape", "has %d elements, data %d", count, len(data)/t.size)
		}
	}
	return func(context.Context) (result, error) {
		return nil, write(name, path, append(npyHeader(t.dtype, shape), data...))
	}
}

func numericOf(v goja.Value) (numeric, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return numeric{}, false
	}
	tag, _ := o.GetSymbol(goja.SymToStringTag).(goja.String)
	if tag == nil {
		return numeric{}, false
	}
	class := tag.String()
	if class == "Uint8ClampedArray" {
		class = "Uint8Array"
	}
	for _, t := range numerics {
		if t.class == class {
			return t, true
		}
	}
	return numeric{}, false
}

// npyHeader pads the header so that the data begins at a multiple of 64, as the format wants.
func npyHeader(dtype string, shape []int) []byte {
	var dims strings.Builder
	for i, d := range shape {
		if i > 0 {
			dims.WriteByte(' ')
		}
		fmt.Fprintf(&dims, "%d,", d)
	}
	list := dims.String()
	if len(shape) > 1 {
		list = strings.TrimSuffix(list, ",")
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, list)
	pad := 64 - (10+len(header)+1)%64
	header += strings.Repeat(" ", pad%64) + "\n"
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	return append(out, header...)
}
