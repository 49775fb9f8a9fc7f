package irpage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// recorder wraps the CPU plugin and compares its launches with the evaluator.
type recorder struct {
	offload.Plugin
	t       *testing.T
	library *kernels.Library
	steps   int // maximum steps of the evaluator per launch
	most    int // maximum launches compared per kernel

	mu      sync.Mutex
	kernels map[offload.Kernel]*ir.Kernel
	same    map[string]int // agreeing launches, by kernel
	skipped map[string]int // launches with too many steps, by kernel
}

type recordedPlatform struct {
	offload.Platform
	devices []offload.Device
}

func (p *recordedPlatform) Devices() []offload.Device { return p.devices }

type recordedDevice struct {
	offload.Device
	r *recorder
}

type recordedProgram struct {
	offload.Program
	r      *recorder
	module *ir.Module
}

type recordedQueue struct {
	offload.Queue
	d *recordedDevice
}

func (r *recorder) Open(ctx context.Context) (offload.Platform, error) {
	near, err := r.Plugin.Open(ctx)
	if err != nil {
		return nil, err
	}
	p := &recordedPlatform{Platform: near}
	for _, d := range near.Devices() {
		p.devices = append(p.devices, &recordedDevice{d, r})
	}
	return p, nil
}

func (d *recordedDevice) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	p, err := d.Device.Load(ctx, img)
	if err != nil {
		return nil, err
	}
	m, err := ir.DecodeBinary(img.Data)
	if err == nil {
		err = d.r.library.Expand(m)
	}
	if err != nil {
		d.r.t.Errorf("the image of a program: %v", err)
		return p, nil
	}
	return &recordedProgram{p, d.r, m}, nil
}

func (p *recordedProgram) Kernel(name string) (offload.Kernel, error) {
	k, err := p.Program.Kernel(name)
	if err == nil {
		p.r.mu.Lock()
		p.r.kernels[k] = p.module.Kernel(name)
		p.r.mu.Unlock()
	}
	return k, err
}

func (d *recordedDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.Device.NewQueue(o)
	if err != nil {
		return nil, err
	}
	return &recordedQueue{q, d}, nil
}

// Launch runs a launch alone, with a copy of its memory for the evaluator.
func (q *recordedQueue) Launch(l *offload.Launch) error {
	r := q.d.r
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kernels[l.Kernel]
	if k == nil {
		return q.Queue.Launch(l)
	}
	if r.same[k.Name] >= r.most {
		return q.Queue.Launch(l)
	}
	if err := q.Sync(context.Background()); err != nil {
		return err
	}
	c := &oracle.Case{Kernel: k, Size: l.Size, GroupSize: l.GroupSize, SubgroupSize: q.d.Info().Limits.SubgroupSizes[0], Unchecked: l.Checks == offload.ChecksOff}
	if c.GroupSize == [3]int{} {
		c.GroupSize = offload.DefaultGroupSize(l.Size)
	}
	copies := map[offload.Memory][]byte{}
	buffers := make([][]byte, len(l.Args))
	for i, a := range l.Args {
		arg := oracle.Arg{Bits: a.Bits}
		if a.Memory != nil {
			if copies[a.Memory] == nil {
				copies[a.Memory] = bytes.Clone(a.Memory.Bytes())
			}
			buffers[i] = copies[a.Memory][a.Offset:]
			arg.Dims = a.Dims[:k.Params[i].Array.Rank]
		}
		c.Args = append(c.Args, arg)
	}
	if err := errors.Join(q.Queue.Launch(l), q.Sync(context.Background())); err != nil {
		return err
	}
	out, err := Evaluate(c, buffers, Limits{Steps: r.steps})
	switch {
	case errors.Is(err, ErrTooLong):
		r.skipped[k.Name]++
		return nil
	case err != nil || out.Fault != nil:
		r.t.Errorf("%s: %v, fault %s", k.Name, err, describe(out.Fault))
		return nil
	}
	for m, b := range copies {
		if at := firstDifference(b, m.Bytes()); at >= 0 {
			r.t.Errorf("%s: a buffer of %d bytes differs from byte %d on: % x, device % x", k.Name, len(b), at, b[at:min(at+8, len(b))], m.Bytes()[at:min(at+8, len(b))])
		}
	}
	r.same[k.Name]++
	return nil
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// TestExamples runs the example kernels on the CPU device, and their first launches also in the evaluator.
func TestExamples(t *testing.T) {
	r := &recorder{Plugin: cpu.New(cpu.Options{}), t: t, library: kernels.New(), steps: 20_000_000, most: 3, kernels: map[offload.Kernel]*ir.Kernel{},
		same: map[string]int{}, skipped: map[string]int{}}
	scripts, err := filepath.Glob("../../examples/kernels/*.js")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		r.steps, r.most = 1_000_000, 1
	}
	for _, script := range scripts {
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{r}})
		e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.RunFile(t.Context(), script); err != nil {
			t.Errorf("%s: %v", filepath.Base(script), err)
		}
		if err := errors.Join(e.Close(), rt.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	}
	var never []string
	for name := range r.skipped {
		if r.same[name] == 0 {
			never = append(never, name)
		}
	}
	slices.Sort(never)
	t.Logf("%d kernels agree; too long: %s", len(r.same), strings.Join(never, ", "))
	if least := 20; len(r.same) < least && !testing.Short() || len(r.same) < least/2 {
		t.Errorf("only %d kernels were compared", len(r.same))
	}
}
