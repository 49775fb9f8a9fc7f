// Package ondevice runs cases of package oracle on a plugin's device and compares them with the interpreter.
package ondevice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/runtime/offload"
)

// Runner runs cases on a device. It is not safe for concurrent use.
type Runner struct {
	Device   offload.Device
	platform offload.Platform
	queue    offload.Queue
}

// Open returns a runner for the first device of a plugin.
func Open(ctx context.Context, plugin offload.Plugin) (*Runner, error) {
	p, err := plugin.Open(ctx)
	if err != nil {
		return nil, err
	}
	r := &Runner{Device: p.Devices()[0], platform: p}
	if r.queue, err = r.Device.NewQueue(offload.QueueOptions{}); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return r, nil
}

// Close closes the queue and the platform.
func (r *Runner) Close() error { return errors.Join(r.queue.Close(), r.platform.Close()) }

// collector collects prints and serves calls as the interpreter's runs do. Each print's source line is the number of its site
// plus 1.
type collector struct {
	mu     sync.Mutex
	prints []oracle.Print
}

func (c *collector) Print(m *offload.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prints = append(c.prints, oracle.Print{Site: m.Pos.Line - 1, Item: m.Item, Text: m.Text})
}

func (c *collector) Call(_ context.Context, r *offload.Request) (uint64, error) {
	bits := make([]uint64, len(r.Args))
	for i, a := range r.Args {
		bits[i] = a.Bits
	}
	return oracle.Serve(r.Name, bits)
}

// Run runs a case on the device. A fault is part of the outcome, not an error. The error has the code Unsupported if the
// device rejects the kernel.
func (r *Runner) Run(ctx context.Context, c *oracle.Case) (out *oracle.Outcome, err error) {
	kernel := *c.Kernel
	kernel.Sites = append(kernel.Sites[:0:0], kernel.Sites...)
	for i := range kernel.Sites {
		kernel.Sites[i].Line = i + 1
	}
	data, err := irgen.Module(&kernel).MarshalBinary()
	if err != nil {
		return nil, err
	}
	program, err := r.Device.Load(ctx, &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		return nil, err
	}
	l := &offload.Launch{Size: c.Size, GroupSize: c.GroupSize}
	defer func() {
		for i := range l.Args {
			if m := l.Args[i].Memory; m != nil && c.Args[i].Of == 0 {
				err = errors.Join(err, m.Free())
			}
		}
		err = errors.Join(err, program.Unload())
	}()
	if l.Kernel, err = program.Kernel(c.Kernel.Name); err != nil {
		return nil, err
	}
	prints := &collector{}
	l.Services = prints
	if c.Unchecked {
		l.Checks = offload.ChecksOff
	}
	if !l.Kernel.Info().ObservesGroup {
		l.GroupSize = [3]int{}
	}
	for i := range c.Args {
		arg, err := r.argument(c, l, i)
		if err != nil {
			return nil, err
		}
		l.Args = append(l.Args, arg)
	}
	if err := r.queue.Launch(l); err != nil {
		return nil, err
	}
	failed := r.queue.Sync(ctx)
	out = &oracle.Outcome{Data: make([][]byte, len(c.Args)), Prints: prints.prints}
	for i := range c.Args {
		m := l.Args[i].Memory
		if m == nil {
			continue
		}
		out.Data[i] = make([]byte, m.Size()-l.Args[i].Offset)
		if c.Args[i].Of == 0 {
			out.Data[i] = out.Data[i][:len(c.Args[i].Data)]
		}
		if err := r.queue.Retrieve(out.Data[i], offload.Span{Memory: m, Offset: l.Args[i].Offset, Size: int64(len(out.Data[i]))}); err != nil {
			return nil, err
		}
	}
	if err := r.queue.Sync(ctx); err != nil {
		return nil, err
	}
	var e *offload.Error
	if errors.As(failed, &e) && e.Fault != nil {
		f := e.Fault
		out.Fault = &oracle.Fault{Site: f.Pos.Line - 1, Item: f.Item}
		if f.Array != "" {
			out.Fault.Array, out.Fault.Index, out.Fault.Extent = f.Array, fmt.Sprint(f.Index), fmt.Sprint(f.Extent)
		}
		return out, nil
	}
	return out, failed
}

// argument returns an argument of the launch in device memory. l has the arguments before it.
func (r *Runner) argument(c *oracle.Case, l *offload.Launch, i int) (arg offload.Arg, err error) {
	a, p := &c.Args[i], l.Kernel.Info().Params[i]
	arg = offload.Arg{Type: p.Type, Bits: a.Bits}
	if !p.Buffer {
		return arg, nil
	}
	copy(arg.Dims[:], a.Dims)
	if a.Of > 0 {
		of := &l.Args[a.Of-1]
		arg.Memory, arg.Offset = of.Memory, of.Offset+int64(a.Offset)
		return arg, nil
	}
	if arg.Memory, err = r.Device.Allocate(int64(max(len(a.Data), 1)), offload.DeviceMemory); err != nil {
		return arg, err
	}
	return arg, r.queue.Submit(offload.Span{Memory: arg.Memory, Size: int64(len(a.Data))}, a.Data)
}

// Compare runs a case on the device and in the interpreter, and returns the difference of outcomes, "" if they are equal.
func (r *Runner) Compare(ctx context.Context, c *oracle.Case) (diff string, err error) {
	got, err := r.Run(ctx, c)
	if err != nil {
		return "", err
	}
	watch := *c
	if got.Fault != nil {
		watch.Watch = &got.Fault.Item
	}
	want, err := watch.Interp(interp.Options{IgnoreProofs: true})
	if err != nil {
		return "", err
	}
	if f := want.Fault; f != nil && got.Fault != nil { // fields that offload.Fault lacks
		got.Fault.Kind, got.Fault.Axis, got.Fault.Text = f.Kind, f.Axis, f.Text
	}
	inOrder(want.Prints)
	inOrder(got.Prints)
	return c.Diff(want, got), nil
}

// inOrder sorts prints by work-item. A device may choose the groups of a kernel that cannot observe them, and thus the order
// of prints.
func inOrder(list []oracle.Print) {
	slices.SortStableFunc(list, func(a, b oracle.Print) int { return slices.Compare(a.Item[:], b.Item[:]) })
}

// HiddenGroups returns a case whose kernel observes its groups only until passes remove an unused coordinate. All items
// print.
func HiddenGroups() *oracle.Case {
	k := &ir.Kernel{Name: "hidden", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}, {Line: 2}}}
	b := ir.Builder{Kernel: k, Block: k.Body, Site: 1}
	b.Emit(&ir.Instr{Op: ir.Item, Item: ir.GroupID}, ir.I32)
	x := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	b.Emit(&ir.Instr{Op: ir.Print, Args: []*ir.Value{x}, Text: []string{"", "\n"}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	return &oracle.Case{Kernel: k, Size: [3]int{8, 4, 1}, GroupSize: [3]int{4, 2, 1}}
}

// CompareGroups runs [HiddenGroups] and returns the difference from the interpreter, including the order of prints.
func (r *Runner) CompareGroups(ctx context.Context) (diff string, err error) {
	c := HiddenGroups()
	want, err := c.Interp(interp.Options{})
	if err != nil {
		return "", err
	}
	got, err := r.Run(ctx, c)
	if err != nil {
		return "", err
	}
	return c.Diff(want, got), nil
}
