package fs

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/memory"
)

// A numeric type has a dtype in NumPy and a typed array class in scripts.
type numeric struct {
	dtype, class string
	size         int
}

var numerics = []numeric{
	{"|i1", "Int8Array", 1}, {"|u1", "Uint8Array", 1}, {"|b1", "Uint8Array", 1},
	{"<i2", "Int16Array", 2}, {"<u2", "Uint16Array", 2}, {"<i4", "Int32Array", 4}, {"<u4", "Uint32Array", 4},
	{"<f4", "Float32Array", 4}, {"<f8", "Float64Array", 8}, {"<i8", "BigInt64Array", 8}, {"<u8", "BigUint64Array", 8},
	{"<f2", "Float32Array", 2}, // half floats are widened, which is exact
}

const npyMagic = "\x93NUMPY"

// npyHeaderFields holds the patterns of descr, fortran_order and shape.
var npyHeaderFields = later.Value[[3]*regexp.Regexp]{Make: func() [3]*regexp.Regexp {
	return [3]*regexp.Regexp{
		regexp.MustCompile(`['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[))`),
		regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`),
		regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`),
	}
}}

// npyFile is a decoded NPY file.
type npyFile struct {
	numeric
	shape []int
	data  []byte // aligned for the type
}

func readNPY(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.readPath(a)
	return func(ctx context.Context) (result, error) {
		raw, err := f.ReadFile(ctx, path)
		if err != nil {
			return nil, f.ReadError("read", name, path, err)
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
	begin, length := 10, uint64(binary.LittleEndian.Uint16(raw[8:]))
	switch {
	case raw[6] < 1 || raw[6] > 3:
		return nil, fmt.Errorf("the file is of version %d of the format, of which 1 to 3 are known", raw[6])
	case raw[6] > 1 && len(raw) < 12:
		return nil, fmt.Errorf("the file ends in its header")
	case raw[6] > 1:
		begin, length = 12, uint64(binary.LittleEndian.Uint32(raw[8:]))
	}
	if length > uint64(len(raw)-begin) {
		return nil, fmt.Errorf("the file ends in its header")
	}
	header, rest := string(raw[begin:begin+int(length)]), raw[begin+int(length):]
	fields := npyHeaderFields.Get()
	descr, order, shape := fields[0].FindStringSubmatch(header), fields[1].FindStringSubmatch(header), fields[2].FindStringSubmatch(header)
	if descr == nil || order == nil || shape == nil {
		return nil, fmt.Errorf("the header lacks descr, fortran_order or shape")
	}
	if descr[2] != "" {
		return nil, fmt.Errorf("the elements are records, which have no typed array; save each field in a file of its own")
	}
	n := &npyFile{}
	swap := strings.HasPrefix(descr[1], ">")
	for _, t := range numerics {
		if strings.TrimLeft(t.dtype, "<|") == strings.TrimLeft(descr[1], "<>=|") {
			n.numeric = t
		}
	}
	if n.class == "" {
		return nil, foreignElements(descr[1])
	}
	count, err := n.setShape(shape[1], len(rest))
	if err != nil {
		return nil, err
	}
	if count*n.size != len(rest) {
		return nil, fmt.Errorf("the shape (%s) of %s needs %d bytes, the file has %d", shape[1], descr[1], count*n.size, len(rest))
	}
	n.data = append(make([]byte, 0, len(rest)), rest...) // a copy, since data within a file may be misaligned
	if swap {
		for at := 0; at < len(n.data); at += n.size {
			slices.Reverse(n.data[at : at+n.size])
		}
	}
	if order[1] == "True" && len(n.shape) > 1 {
		n.data = rowByRow(n.data, n.shape, n.size)
	}
	if n.dtype == "<f2" {
		n.data = widened(ir.F16, n.data)
	}
	return n, nil
}

// foreignElements returns the error for an unsupported element type, with advice on the conversion.
func foreignElements(descr string) error {
	what := map[string]string{"U": "text", "S": "bytes of text", "a": "bytes of text", "O": "objects of Python", "c": "complex numbers", "M": "dates", "m": "durations", "V": "raw bytes", "f": "extended floats"}
	kind := strings.TrimLeft(descr, "<>=|")
	if len(kind) > 0 && what[kind[:1]] != "" {
		return fmt.Errorf("the elements are %s (%q), which have no typed array; save them as numbers, with astype", what[kind[:1]], descr)
	}
	return fmt.Errorf("elements of type %q have no typed array; save them as numbers, with astype", descr)
}

// setShape parses the extents in list and returns the number of elements, which must not exceed most, the number of bytes after
// the header. If an extent is 0, the others may be of any size.
func (n *npyFile) setShape(list string, most int) (count int, err error) {
	for field := range strings.SplitSeq(list, ",") {
		field = strings.TrimSuffix(strings.TrimSpace(field), "L") // the suffix of long integers in Python 2
		if field == "" {
			continue
		}
		d, err := strconv.ParseUint(field, 10, 53)
		if err != nil || len(n.shape) == maxRank {
			return 0, fmt.Errorf("the shape (%s) does not fit the file", list)
		}
		n.shape = append(n.shape, int(d))
	}
	if slices.Contains(n.shape, 0) {
		return 0, nil
	}
	count = 1
	for _, d := range n.shape {
		if count > most/d {
			return 0, fmt.Errorf("the shape (%s) does not fit the file", list)
		}
		count *= d
	}
	return count, nil
}

// maxRank is the maximum number of dimensions, as in NumPy.
const maxRank = 64

// rowByRow converts elements from column-major (Fortran) order to row-major order.
func rowByRow(data []byte, shape []int, size int) []byte {
	out := make([]byte, 0, len(data))
	index := make([]int, len(shape))
	for range len(data) / size {
		at, stride := 0, size
		for i, d := range shape {
			at += index[i] * stride
			stride *= d
		}
		out = append(out, data[at:at+size]...)
		for i := len(shape) - 1; i >= 0; i-- {
			if index[i]++; index[i] < shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}

// widened converts floats of 16 bits to single floats.
func widened(t ir.Type, data []byte) []byte {
	out := make([]byte, 0, 2*len(data))
	for at := 0; at < len(data); at += 2 {
		out = binary.LittleEndian.AppendUint32(out, uint32(scalar.Load(t, uint64(binary.LittleEndian.Uint16(data[at:])))))
	}
	return out
}

func writeNPY(f *files, a *lang.Args) func(context.Context) (result, error) {
	name, path := f.writePath(a)
	buffer, err := buffers.Fetch(f.Engine, a.Value(1))
	if err != nil {
		a.Reject(err)
		return nil
	}
	var data []byte
	var t numeric
	var shape []int
	if buffer != nil {
		t, shape = numericOfElement(buffer.Type), buffer.Shape
	} else {
		var ok bool
		if t, ok = numericOf(a.Value(1)); !ok {
			a.Fail("data", "must be a typed array or a buffer, not %s", convert.Describe(a.Value(1)))
			return nil
		}
		data = memory.Clone(a.Bytes(1, "data"))
		shape = []int{len(data) / t.size}
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	if o := a.Object(2, "shape"); o != nil {
		shape = nil
		count := 1.0
		for _, key := range o.Keys() {
			d := o.Get(key).ToFloat()
			if d != math.Trunc(d) || !(d >= 0 && d <= 1<<53) || len(shape) == maxRank {
				a.Fail("shape", "must be an array of at most %d integers from 0 on", maxRank)
				return nil
			}
			shape = append(shape, int(d))
			count *= d
		}
		if count != float64(n) {
			a.Fail("shape", "%v is not that of the data, which has %d elements", shape, n)
		}
	}
	return func(ctx context.Context) (result, error) {
		if buffer != nil {
			if data, err = buffer.Wait(ctx); err != nil {
				return func() (goja.Value, error) { return nil, buffer.Explain(err) }, nil
			}
			if buffer.Type == ir.BF16 {
				data = widened(ir.BF16, data)
			}
		}
		return nil, write(name, path, append(npyHeader(t.dtype, shape), data...))
	}
}

// numericOfElement returns the form of a buffer's elements in a file. NumPy has no bf16, which is widened.
func numericOfElement(t ir.Type) numeric {
	dtype := map[ir.Type]string{ir.Bool: "|b1", ir.I8: "|i1", ir.U8: "|u1", ir.BF16: "<f4"}[t]
	if dtype == "" {
		kind := "u"
		switch {
		case t.IsFloat():
			kind = "f"
		case t.IsSigned():
			kind = "i"
		}
		dtype = fmt.Sprintf("<%s%d", kind, t.Size())
	}
	for _, n := range numerics {
		if n.dtype == dtype {
			return n
		}
	}
	return numeric{}
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

// npyHeader returns the header, padded to a multiple of 64 bytes as the format requires.
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
