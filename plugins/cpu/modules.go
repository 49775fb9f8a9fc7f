package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// modules compiles images and caches the results.
type modules struct {
	*portable.Cache[*module]
	engines []engine
}

// module is a compiled image.
type module struct{ kernels []*kernel }

func newModules(d choices, info *machine.Info) *modules {
	m := &modules{engines: d.engines(info)}
	m.Cache = portable.NewCache(m.compile)
	return m
}

// compile compiles the kernels of an image. It returns an error if the image is invalid, the optimizer panics, ctx ends, or the image has
// kernels of which none compiles.
func (m *modules) compile(ctx context.Context, img *offload.Image) (*module, error) {
	decoded, err := ir.DecodeBinary(img.Data)
	if err == nil {
		err = expand(decoded)
	}
	if err != nil {
		e := offload.Errorf(offload.InvalidBinary, "load", "").On("", img.Label)
		e.Err = err
		return nil, e
	}
	optimized := decoded.Clone()
	for i := range optimized.Kernels {
		if ctx.Err() != nil {
			return nil, portable.Cancelled(ctx, img)
		}
		one := *optimized
		one.Kernels = optimized.Kernels[i : i+1]
		if err := guard(img.Label, func() error { opt.Run(&one, opt.Default, nil); return nil }); err != nil {
			return nil, err
		}
	}
	compiled := &module{kernels: make([]*kernel, 0, len(decoded.Kernels))}
	usable, failed := 0, error(nil)
	for i, k := range decoded.Kernels {
		if ctx.Err() != nil {
			return nil, portable.Cancelled(ctx, img)
		}
		kernel := newKernel(decoded, k, optimized.Kernels[i], m.engines)
		if _, kernel.err = kernel.variant(offload.ChecksOn); kernel.err != nil {
			failed = kernel.err
		} else {
			usable++
		}
		compiled.kernels = append(compiled.kernels, kernel)
	}
	if usable > 0 {
		return compiled, nil // a kernel that failed returns its error at its first use
	}
	return compiled, failed
}

// build compiles a kernel with the first engine that supports it. refusals has the reasons of the engines before that one. An error
// other than errUnsupported ends the search. The error of the last engine tried is returned, as one of package offload.
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

// refusal returns the reason of an engine's error as text, with the source position if that is known.
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

// guard calls compile, and returns its error, or its panic as an error.
func guard(label string, compile func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked("load", label, p)
		}
	}()
	return compile()
}

// panicked returns the error of a compiler that panicked.
func panicked(op, label string, value any) error {
	return offload.Errorf(offload.BackendFailure, op, "the compiler panicked: %v\n%s", value, debug.Stack()).On("", label)
}
