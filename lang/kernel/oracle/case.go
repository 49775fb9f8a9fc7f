package oracle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Case is a launch of a kernel.
type Case struct {
	Kernel       *ir.Kernel
	Size         [3]int
	GroupSize    [3]int // unused if the kernel does not observe its group
	SubgroupSize int    // 0 means 32
	Unchecked    bool
	Args         []Arg // by parameter

	// Watch, if not nil, is the only item whose fault the interpreter keeps.
	Watch *[3]int

	Stop *atomic.Bool // may be nil; when it becomes true, a run stops early and keeps its partial effects
}

// Arg is an argument: the bits of a scalar or the initial contents of a buffer, which runs do not modify.
type Arg struct {
	Bits uint64  // bits of a scalar
	Data []byte  // contents of a buffer, unless Of is positive
	Dims []int32 // extents of a buffer, outermost first

	// Of, if positive, makes the buffer a view of the memory of argument number Of, 1-based, from byte Offset.
	Of, Offset int
}

// Bind returns the arguments of a launch and the contents of its buffers. memory allocates a buffer aligned for any element.
func (c *Case) Bind(memory func(bytes int) []byte) (args []interp.Arg, data [][]byte) {
	for i, a := range c.Args {
		arg := interp.Arg{Bits: a.Bits}
		var bytes []byte
		if c.Kernel.Params[i].Array != nil {
			if a.Of > 0 {
				bytes = data[a.Of-1][a.Offset:]
			} else {
				bytes = memory(len(a.Data))
				copy(bytes, a.Data)
			}
			arg.Base, arg.Bytes = unsafe.Pointer(unsafe.SliceData(bytes)), len(bytes)
			copy(arg.Dims[:], a.Dims)
		}
		data = append(data, bytes)
		args = append(args, arg)
	}
	return args, data
}

// words returns n bytes of memory, aligned to 8.
func words(n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, n/8+1)))), n)
}

// Outcome holds the effects of a launch.
type Outcome struct {
	Data   [][]byte // contents of each buffer, nil for scalars
	Fault  *Fault
	Prints []Print
}

// Fault is a fault report in the emitted JavaScript's format.
type Fault struct {
	Kind   string `json:"kind"`
	Site   int    `json:"site"`
	Array  string `json:"array"`
	Axis   int    `json:"axis"`
	Index  string `json:"index"`
	Extent string `json:"extent"`
	Item   [3]int `json:"item"`
	Text   string `json:"text"`
}

// Print is a print of an item.
type Print struct {
	Site int    `json:"site"`
	Item [3]int `json:"item"`
	Text string `json:"text"`
}

// Interp runs the case in the interpreter. It returns the errors of [interp.Compile] and [interp.Program.Prepare].
func (c *Case) Interp(options interp.Options) (*Outcome, error) {
	p, err := interp.Compile(c.Kernel, options)
	if err != nil {
		return nil, err
	}
	var out Outcome
	l := interp.Launch{Size: c.Size, GroupSize: c.GroupSize, SubgroupSize: c.SubgroupSize, Unchecked: c.Unchecked,
		Services: (*printer)(&out), Watch: c.Watch, Stop: c.Stop}
	l.Args, out.Data = c.Bind(words)
	n, err := p.Prepare(&l)
	if err != nil {
		return nil, err
	}
	if f := p.Run(p.NewWorker(), &l, 0, n); f != nil {
		out.Fault = &Fault{Kind: f.Kind.String(), Site: f.Site, Item: f.Item, Text: f.Text}
		if f.Kind == interp.OutOfBounds {
			out.Fault.Array, out.Fault.Axis = f.Array.Name, f.Axis
			out.Fault.Index, out.Fault.Extent = fmt.Sprint(f.Index), fmt.Sprint(f.Extent)
		}
	}
	return &out, nil
}

// printer collects prints in an outcome, and serves calls. It implements [interp.Services].
type printer Outcome

func (o *printer) Print(site int, item [3]int, text string) {
	o.Prints = append(o.Prints, Print{site, item, text})
}

// Diff describes the difference between two outcomes of the case, or returns "" if they agree.
func (c *Case) Diff(a, b *Outcome) string {
	return c.diff(a, b, func(_ ir.Elem, data []byte) []byte { return data })
}

// DiffNode is Diff for an outcome of Node. It compares both outcomes with all NaNs made quiet, since JavaScript makes signalling
// NaNs quiet when it copies them.
func (c *Case) DiffNode(a, b *Outcome) string { return c.diff(a, b, quiet) }

func (c *Case) diff(a, b *Outcome, view func(ir.Elem, []byte) []byte) string {
	switch {
	case (a.Fault == nil) != (b.Fault == nil) || a.Fault != nil && *a.Fault != *b.Fault:
		return fmt.Sprintf("faults: %+v and %+v", a.Fault, b.Fault)
	case !slices.Equal(a.Prints, b.Prints):
		return fmt.Sprintf("prints: %v and %v", a.Prints, b.Prints)
	}
	for i := range c.Kernel.Params {
		array := c.Kernel.Params[i].Array
		if array == nil {
			continue
		}
		x, y := view(array.Elem, a.Data[i]), view(array.Elem, b.Data[i])
		if bytes.Equal(x, y) {
			continue
		}
		size := array.Elem.Size()
		for at := 0; at+size <= min(len(x), len(y)); at += size {
			if !bytes.Equal(x[at:at+size], y[at:at+size]) {
				return fmt.Sprintf("%s, element %d: % x and % x", array.Name, at/size, x[at:at+size], y[at:at+size])
			}
		}
		return fmt.Sprintf("%s: other bytes than the elements'", array.Name)
	}
	return ""
}

// quiet returns the elements with all f32 and f64 NaNs made quiet.
func quiet(e ir.Elem, data []byte) []byte {
	out := slices.Clone(data)
	for at := 0; at+e.Size() <= len(out); at += e.Size() {
		quietElem(e, out[at:])
	}
	return out
}

func quietElem(e ir.Elem, data []byte) {
	if e.Record == nil {
		quietScalar(e.Scalar, data)
		return
	}
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		n := 1
		for _, d := range f.Dims {
			n *= d
		}
		for k := range n {
			quietElem(f.Elem, data[f.Offset+k*f.Elem.Size():])
		}
	}
}

func quietScalar(t ir.Type, data []byte) {
	switch t {
	case ir.F32:
		if b := binary.LittleEndian.Uint32(data); b&math.MaxInt32 > 0x7f800000 {
			binary.LittleEndian.PutUint32(data, b|1<<22)
		}
	case ir.F64:
		if b := binary.LittleEndian.Uint64(data); b&math.MaxInt64 > 0x7ff<<52 {
			binary.LittleEndian.PutUint64(data, b|1<<51)
		}
	}
}
