package cpu

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// kept is how many modules stay compiled although no program uses them.
const kept = 64

// cache holds compiled modules by content: the same image is compiled once, as long as somebody uses it and for a while
// after.
type cache struct {
	engines   []engine
	functions *functions

	mu      sync.Mutex
	modules map[[sha256.Size]byte]*module
	unused  []*module // oldest first
}

func newCache(d choices, info *machine.Info) *cache {
	f := newFunctions()
	return &cache{engines: d.engines(info, f), functions: f, modules: map[[sha256.Size]byte]*module{}}
}

// module is a compiled module.
type module struct {
	hash    [sha256.Size]byte
	kernels []*kernel
	users   int // programs; guarded by the cache

	turn chan struct{} // full while somebody compiles it
	done bool
}

// get gives the compiled module of an image, for put to give back.
func (c *cache) get(ctx context.Context, img *offload.Image) (*module, error) {
	hash := img.Digest()
	c.mu.Lock()
	m := c.modules[hash]
	if m == nil {
		m = &module{hash: hash, turn: make(chan struct{}, 1)}
		c.modules[hash] = m
	}
	m.users++
	c.unused = slices.DeleteFunc(c.unused, func(o *module) bool { return o == m })
	c.mu.Unlock()

	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done(): // who compiles it goes on
		c.put(m)
		return nil, cancelled(ctx, img)
	}
	if m.done {
		return m, nil
	}
	if err := m.compile(ctx, c, img); err != nil {
		c.put(m)
		return nil, err
	}
	m.done = true
	return m, nil
}

// cancelled is the error of a load whose context ended.
func cancelled(ctx context.Context, img *offload.Image) error {
	e := offload.Errorf(offload.Cancelled, "load", "").On("", img.Label)
	e.Err = context.Cause(ctx)
	return e
}

// put gives a module back.
func (c *cache) put(m *module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.users--; m.users > 0 {
		return
	}
	c.unused = append(c.unused, m)
	if len(c.unused) > kept {
		delete(c.modules, c.unused[0].hash)
		c.unused = slices.Delete(c.unused, 0, 1)
	}
}

func (m *module) compile(ctx context.Context, c *cache, img *offload.Image) error {
	decoded, err := ir.DecodeBinary(img.Data)
	if err == nil {
		err = c.functions.expand(decoded)
	}
	if err != nil {
		e := offload.Errorf(offload.InvalidBinary, "load", "").On("", img.Label)
		e.Err = err
		return e
	}
	optimized := decoded.Clone()
	for i := range optimized.Kernels {
		if ctx.Err() != nil {
			return cancelled(ctx, img)
		}
		one := *optimized
		one.Kernels = optimized.Kernels[i : i+1]
		if err := guard(img.Label, func() error { opt.Run(&one, opt.Default, nil); return nil }); err != nil {
			return err
		}
	}
	m.kernels = make([]*kernel, 0, len(decoded.Kernels))
	compiled, failed := 0, error(nil)
	for i, k := range decoded.Kernels {
		if ctx.Err() != nil {
			return cancelled(ctx, img)
		}
		kernel := newKernel(decoded, k, optimized.Kernels[i], c.engines)
		if _, kernel.err = kernel.variant(offload.ChecksOn); kernel.err != nil {
			failed = kernel.err
		} else {
			compiled++
		}
		m.kernels = append(m.kernels, kernel)
	}
	if compiled > 0 {
		return nil // who asks for one of the others will be told
	}
	return failed
}

// build compiles a kernel by the first engine that can, and says why no better one did.
func build(engines []engine, m *ir.Module, k *ir.Kernel, checks offload.Checks) (x executable, refusals []string, err error) {
	for _, e := range engines {
		err = guard(k.Name, func() (err error) {
			x, err = e.compile(k, checks)
			return err
		})
		if err == nil {
			return x, refusals, nil
		}
		if !errors.Is(err, errUnsupported) {
			break
		}
		refusals = append(refusals, refusal(m, k, err))
	}
	if offload.CodeOf(err) != "" {
		return nil, nil, err
	}
	e := offload.Errorf(offload.Unsupported, "load", "").On("", k.Name)
	e.Err = err
	var u *interp.UnsupportedError
	if errors.As(err, &u) {
		e.Pos, _ = portable.Position(m, k, u.Site)
	}
	return nil, nil, e
}

// refusal says why an engine does not compile a kernel, and where in it the reason is.
func refusal(m *ir.Module, k *ir.Kernel, err error) string {
	var u *spmd.UnsupportedError
	if !errors.As(err, &u) {
		return err.Error()
	}
	pos, text := portable.Position(m, k, u.Site)
	if pos.Line == 0 {
		return "no vector code: " + u.What
	}
	return fmt.Sprintf("no vector code: %s, for `%s` at %d:%d", u.What, text, pos.Line, pos.Col)
}

// guard runs a compiler: that it panics is its fault, and not the end of the process.
func guard(label string, compile func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked("load", label, p)
		}
	}()
	return compile()
}

// panicked is the error of a compiler that panicked.
func panicked(op, label string, value any) error {
	return offload.Errorf(offload.BackendFailure, op, "the compiler panicked: %v\n%s", value, debug.Stack()).On("", label)
}
