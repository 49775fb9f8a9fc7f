package portable

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/runtime/offload"
)

// probes are operands that reveal inexact arithmetic: subnormals, ties, extremes, zeros, infinities and a NaN.
var probes = []float64{0, math.Copysign(0, -1), 1, -1, 3, 7, 0.1, -0.3, 1.0 / 3, 1 + 0x1p-23, 1 - 0x1p-24, 1 + 0x1p-52, 16777217, 0x1p24, 1e10, -1e-10,
	0x1p-126, 0x1p-127, -0x1p-149, 0x1.8p-140, 0x1p-1022, 0x1p-1074, 3e38, math.MaxFloat32, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// probe is a kernel that computes several expressions of elements of three buffers, and stores each in its own buffer.
type probe struct {
	kernel *ir.Kernel
	data   [][]byte // contents of the buffers: operands, then zeroed results
	names  []string // names of the results
	count  int
}

// newProbe returns the probe for a float type. Its sums of products reveal contraction, its differences of sums reordering,
// its quotients by and of constants approximate reciprocals.
func newProbe(t ir.Type) *probe {
	k := &ir.Kernel{Name: "probe", Real: t, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	p := &probe{kernel: k, count: len(probes) * len(probes)}
	path := []ir.Step{{Kind: ir.StepIndex}}
	at := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	buffer := func(data []byte) *ir.Array {
		a := &ir.Array{Name: fmt.Sprint("b", len(k.Arrays)), Space: ir.Global, Elem: ir.Elem{Scalar: t}, Rank: 1, ID: len(k.Arrays)}
		k.Arrays = append(k.Arrays, a)
		k.Params = append(k.Params, ir.Param{Name: a.Name, Array: a})
		p.data = append(p.data, data)
		return a
	}
	var operands [3][]byte
	for i, x := range probes {
		for j, y := range probes {
			for n, v := range [3]float64{x, y, probes[(i+5*j)%len(probes)]} {
				if t == ir.F32 {
					operands[n] = binary.LittleEndian.AppendUint32(operands[n], uint32(ir.FloatBits(t, v)))
				} else {
					operands[n] = binary.LittleEndian.AppendUint64(operands[n], ir.FloatBits(t, v))
				}
			}
		}
	}
	var in [3]*ir.Value
	for n := range in {
		in[n] = b.Emit(&ir.Instr{Op: ir.Load, Array: buffer(operands[n]), Path: path, Args: []*ir.Value{at}}, t)
	}
	x, y, z := in[0], in[1], in[2]
	sum, product := b.Op(ir.Add, t, x, y), b.Op(ir.Mul, t, x, y)
	constant := func(v float64) *ir.Value { return b.Emit(&ir.Instr{Op: ir.Const, Bits: ir.FloatBits(t, v)}, t) }
	for _, r := range []struct {
		name  string
		value *ir.Value
	}{
		{"x + y", sum}, {"x - y", b.Op(ir.Sub, t, x, y)}, {"x * y", product}, {"x / y", b.Op(ir.Div, t, x, y)}, {"sqrt(x)", b.Op(ir.Sqrt, t, x)},
		{"x * y + z", b.Op(ir.Add, t, product, z)}, {"x + y - x", b.Op(ir.Sub, t, sum, x)}, {"fma(x, y, z)", b.Op(ir.FMA, t, x, y, z)},
		{"min(x, y)", b.Op(ir.Min, t, x, y)}, {"max(x, y)", b.Op(ir.Max, t, x, y)},
		{"1 / (x * y)", b.Op(ir.Div, t, constant(1), product)}, {"x * y / 3", b.Op(ir.Div, t, product, constant(3))}, {"sqrt(x * y)", b.Op(ir.Sqrt, t, product)},
	} {
		p.names = append(p.names, r.name)
		out := buffer(make([]byte, p.count*t.Size()))
		b.Emit(&ir.Instr{Op: ir.Store, Array: out, Path: path, Args: []*ir.Value{at, r.value}}, ir.Void)
	}
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	opt.CanonicalizeNaNs(k)
	return p
}

// interpret returns the buffers after a run in the interpreter.
func (p *probe) interpret() ([][]byte, error) {
	program, err := interp.Compile(p.kernel, interp.Options{})
	if err != nil {
		return nil, err
	}
	l := interp.Launch{Size: [3]int{p.count, 1, 1}, GroupSize: [3]int{64, 1, 1}, SubgroupSize: 32}
	var out [][]byte
	for _, data := range p.data {
		words := make([]uint64, len(data)/8+1)
		mine := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(data))
		copy(mine, data)
		out = append(out, mine)
		a := interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(mine)), Bytes: len(mine)}
		a.Dims[0] = int32(p.count)
		l.Args = append(l.Args, a)
	}
	n, err := program.Prepare(&l)
	if err != nil {
		return nil, err
	}
	if f := program.Run(program.NewWorker(), &l, 0, n); f != nil {
		return nil, errors.New(f.Kind.String())
	}
	return out, nil
}

// run returns the buffers after a run on the device.
func (p *probe) run(d offload.Device, load Loader) (out [][]byte, err error) {
	info := Describe(p.kernel)
	k, unload, err := load(p.kernel, info)
	if err != nil {
		return nil, err
	}
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		return nil, errors.Join(err, unload())
	}
	l := &offload.Launch{Kernel: k, Size: [3]int{p.count, 1, 1}, Checks: offload.ChecksOff}
	defer func() {
		err = errors.Join(err, q.Close(), unload())
		for i := range l.Args {
			err = errors.Join(err, l.Args[i].Memory.Free())
		}
	}()
	for i, data := range p.data {
		m, err := d.Allocate(int64(len(data)), offload.DeviceMemory)
		if err != nil {
			return nil, err
		}
		a := offload.Arg{Type: info.Params[i].Type, Memory: m}
		a.Dims[0] = int32(p.count)
		l.Args = append(l.Args, a)
		if err := q.Submit(offload.Span{Memory: m, Size: int64(len(data))}, data); err != nil {
			return nil, err
		}
	}
	if err := q.Launch(l); err != nil {
		return nil, err
	}
	for i, data := range p.data {
		out = append(out, make([]byte, len(data)))
		if err := q.Retrieve(out[i], offload.Span{Memory: l.Args[i].Memory, Size: int64(len(data))}); err != nil {
			return nil, err
		}
	}
	return out, q.Sync(context.Background())
}

// Loader compiles a kernel for a device. unload releases it.
type Loader func(k *ir.Kernel, info offload.KernelInfo) (compiled offload.Kernel, unload func() error, err error)

// Arithmetic compares a device's arithmetic with the interpreter's once. The zero value is ready for use.
type Arithmetic struct {
	mu      sync.Mutex
	made    bool
	inexact error
}

// Inexact returns the first difference as an error. It is nil if there is none, or before the comparison.
func (a *Arithmetic) Inexact() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inexact
}

// Compare makes the comparison unless it has succeeded before. The kernels compute thirteen expressions of 784 triples of
// operands, in f32 and f64. If a result differs, Compare calls differ, which must not use a, since a is locked. An error means
// that the kernels failed to run; the next call then compares again.
func (a *Arithmetic) Compare(d offload.Device, load Loader, differ func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made {
		return nil
	}
	inexact, err := compareArithmetic(d, load)
	if err != nil {
		return err
	}
	if a.made, a.inexact = true, inexact; inexact != nil {
		differ()
	}
	return nil
}

// Prove is [Arithmetic.Compare] for a device that counts as exact. If a result differs, the device loses the feature Exact. For
// other devices Prove does nothing.
func (a *Arithmetic) Prove(d offload.Device, info *atomic.Pointer[offload.DeviceInfo], load Loader) error {
	if !info.Load().Features.Exact {
		return nil
	}
	return a.Compare(d, load, func() {
		inexact := *info.Load()
		inexact.Features.Exact = false
		info.Store(&inexact)
	})
}

// compareArithmetic returns the first difference as inexact, nil if there is none. err is set if a kernel failed to run.
func compareArithmetic(d offload.Device, load Loader) (inexact, err error) {
	for _, t := range []ir.Type{ir.F32, ir.F64} {
		p := newProbe(t)
		want, err := p.interpret()
		if err != nil {
			return nil, err
		}
		got, err := p.run(d, load)
		if err != nil {
			return nil, fmt.Errorf("the comparison of the device's arithmetic could not run: %w", err)
		}
		for i, name := range p.names {
			for at, size := 0, t.Size(); at < p.count*size; at += size {
				if w, g := want[3+i][at:][:size], got[3+i][at:][:size]; !bytes.Equal(w, g) {
					return fmt.Errorf("%s in %s has the bits %x instead of %x, for x = %x, y = %x, z = %x (least byte first)", name, t, g, w,
						want[0][at:][:size], want[1][at:][:size], want[2][at:][:size]), nil
				}
			}
		}
	}
	return nil, nil
}
