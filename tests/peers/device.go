package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/ebitengine/purego"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// emptyKernel loads an empty kernel.
func emptyKernel(ctx context.Context, s *session.Session, d *session.Device) (*session.Kernel, error) {
	return textKernel(ctx, s, d, "empty", "orepl-ir 1\nkernel empty() real f32 {\n  return\n}\n")
}

// textKernel loads a kernel from its IR as text.
func textKernel(ctx context.Context, s *session.Session, d *session.Device, name, text string) (*session.Kernel, error) {
	m, err := ir.ParseText(name, text)
	if err != nil {
		return nil, err
	}
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	lib, err := s.RegisterImages(ctx, name, offload.Position{}, &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		return nil, err
	}
	return lib.Kernel(ctx, d, name)
}

// launcher launches an empty kernel from Go.
type launcher struct {
	runtime *orepl.Runtime
	launch  func() error
	wait    func() error
}

func newLauncher() (l *launcher, err error) {
	ctx := context.Background()
	l = &launcher{runtime: orepl.Open(orepl.Options{Plugins: all.Plugins()})}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	s := l.runtime.Session()
	d, err := s.Device(ctx, "cpu")
	if err != nil {
		return nil, err
	}
	k, err := emptyKernel(ctx, s, d)
	if err != nil {
		return nil, err
	}
	q, err := d.Queue()
	if err != nil {
		return nil, err
	}
	call, err := k.Bind(session.Config{Size: []int{1}})
	if err != nil {
		return nil, err
	}
	l.launch = func() error { return q.Launch(call) }
	l.wait = func() error { return q.Sync(ctx) }
	return l, nil
}

func (l *launcher) close() { _ = l.runtime.Close() }

// launches measures the time of an empty launch from Go. In a script, it measures the processor time of an empty launch, a bound
// launch, a bind and a getter.
func launches(r *report) error {
	ctx := context.Background()
	l, err := newLauncher()
	if err != nil {
		return err
	}
	defer l.close()
	var failed error
	check := func(err error) {
		if err != nil {
			failed = err
		}
	}
	once := func() { check(l.launch()); check(l.wait()) }
	const n = 20000
	err = r.alone("launch and wait, Go", "us", 21, func() (float64, error) {
		start := time.Now()
		for range n {
			once()
		}
		return time.Since(start).Seconds() * 1e6 / n, failed
	})
	if err != nil {
		return err
	}
	fmt.Printf("  allocations of a launch and wait: %v\n", testing.AllocsPerRun(1000, once))
	err = r.alone("launch, mean of 1000 and a wait, Go", "us", 21, func() (float64, error) {
		start := time.Now()
		for range n / 1000 {
			for range 1000 {
				check(l.launch())
			}
			check(l.wait())
		}
		return time.Since(start).Seconds() * 1e6 / n, failed
	})
	if err != nil {
		return err
	}

	e, err := inside.Of(l.runtime).NewEngine(lang.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	exports, err := e.Run(ctx, "launches.js", `
import { device, kernel } from 'offload'
const k = kernel((g) => {}), q = device('cpu').queue, options = { size: 1 }, bound = k.bind(options)
export async function launches(n) {
  for (let i = 0; i < n; i++) k.launch(options)
  await q.sync()
}
export async function boundLaunches(n) {
  for (let i = 0; i < n; i++) bound.launch()
  await q.sync()
}
export async function binds(n) {
  for (let i = 0; i < n; i++) k.bind(options)
}
export async function getters(n) {
  for (let i = 0; i < n; i++) k.name
}
await launches(10)`)
	if err != nil {
		return err
	}
	for _, c := range []struct{ function, what string }{
		{"launches", "launch from a script, mean of 1000 and a sync"},
		{"boundLaunches", "bound launch from a script, the same"},
		{"binds", "kernel.bind with the same arguments"},
		{"getters", "the loop with a getter instead"},
	} {
		fn, ok := goja.AssertFunction(exports.Get(c.function))
		if !ok {
			return errors.New("the script exports no function " + c.function)
		}
		err := r.alone(c.what, "us of processor time", 201, func() (float64, error) {
			start := processorTime()
			_, err := e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(1000)) })
			return (processorTime() - start) * 1e6 / 1000, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyRate returns a measurement of copies of a size, at least 64 MiB in all, in GB/s.
func copyRate(size int, run func() error) func() (float64, error) {
	return func() (float64, error) {
		times := max(1, 64<<20/size)
		start := time.Now()
		for range times {
			if err := run(); err != nil {
				return 0, err
			}
		}
		return float64(size) * float64(times) / time.Since(start).Seconds() / 1e9, nil
	}
}

// copies compares submit, retrieve and copies between buffers with the C library's memcpy on the same memory.
func copies(r *report) error {
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		return fmt.Errorf("the C library: %w", err)
	}
	memcpy, err := purego.Dlsym(libc, "memcpy")
	if err != nil {
		return err
	}
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	d, err := rt.Session().Device(ctx, "cpu")
	if err != nil {
		return err
	}
	q, err := d.Queue()
	if err != nil {
		return err
	}
	pool := memory.NewPool(memory.Options{})
	defer pool.Close()
	for _, size := range []int{1 << 20, 256 << 20} {
		host, err := pool.Get(int64(size), true)
		if err != nil {
			return err
		}
		b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{size}})
		if err != nil {
			return err
		}
		dst := b.Mapped()
		src := host.Bytes()
		for i := range src {
			src[i] = byte(i)
		}
		name := fmt.Sprintf("%d MiB", size>>20)
		theirs := copyRate(size, func() error {
			purego.SyscallN(memcpy, uintptr(unsafe.Pointer(&dst[0])), uintptr(unsafe.Pointer(&src[0])), uintptr(size))
			return nil
		})
		if _, err := r.pair("submit "+name, "GB/s", 15, copyRate(size, func() error {
			if err := q.Write(b, 0, src); err != nil {
				return err
			}
			return q.Sync(ctx)
		}), theirs); err != nil {
			return err
		}
		if _, err := r.pair("retrieve "+name, "GB/s", 15, copyRate(size, func() error {
			if err := q.Read(src, b, 0); err != nil {
				return err
			}
			return q.Sync(ctx)
		}), theirs); err != nil {
			return err
		}
		other, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{size}})
		if err != nil {
			return err
		}
		if _, err := r.pair("device to device "+name, "GB/s", 15, copyRate(size, func() error {
			if err := q.Copy(other, b); err != nil {
				return err
			}
			return q.Sync(ctx)
		}), theirs); err != nil {
			return err
		}
		if err := errors.Join(b.Free(), other.Free()); err != nil {
			return err
		}
		if err := host.Free(); err != nil {
			return err
		}
	}
	return nil
}
