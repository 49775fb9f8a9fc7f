package offloadjs_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// hooked is the CPU plugin with library hooks that count the libraries.
type hooked struct {
	contract.Plugin
	mu         sync.Mutex
	now, total int
}

func (h *hooked) Open(ctx context.Context) (contract.Platform, error) {
	raw, err := h.Plugin.Open(ctx)
	return &hookedPlatform{raw, h}, err
}

func (h *hooked) add(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += n
	h.total += max(n, 0)
}

func (h *hooked) counts() (now, total int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now, h.total
}

// await fails the test unless the number of libraries falls to n; trigger is called before each look.
func (h *hooked) await(t *testing.T, n int, trigger func()) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		trigger()
		now, total := h.counts()
		if now <= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d libraries are still registered, want %d", now, total, n)
		}
	}
}

type hookedPlatform struct {
	contract.Platform
	plugin *hooked
}

func (p *hookedPlatform) RegisterLibrary(context.Context, *contract.Library) error {
	p.plugin.add(1)
	return nil
}

func (p *hookedPlatform) UnregisterLibrary(context.Context, *contract.Library) error {
	p.plugin.add(-1)
	return nil
}

const manyKernels = `
import { device, kernel, i32 } from 'offload'
const dev = device(), out = dev.buffer(i32, 1)
for (let i = 0; i < 50; i++) {
  const n = i
  await kernel((g, out) => { out[0] += n }).launch({ size: 1 }, out)
}
export const sum = out.readSync()[0]
`

func TestLibrariesOfDroppedKernelsLeave(t *testing.T) {
	plugin := &hooked{Plugin: cpu.New(cpu.Options{})}
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{plugin}})
	defer rt.Close()
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exports, err := e.Run(context.Background(), "many.js", manyKernels)
	if err != nil {
		t.Fatal(err)
	}
	if sum := exports.Get("sum").ToInteger(); sum != 49*50/2 {
		t.Errorf("the kernels added up %d", sum)
	}
	if _, total := plugin.counts(); total < 50 {
		t.Fatalf("%d libraries were registered", total)
	}
	plugin.await(t, 10, runtime.GC) // goja may keep the last ones reachable
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	plugin.await(t, 0, func() {})
}

func TestEnginesShareEqualKernels(t *testing.T) {
	plugin := &hooked{Plugin: cpu.New(cpu.Options{})}
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{plugin}})
	defer rt.Close()
	const script = `
import { device, kernel, i32 } from 'offload'
const dev = device(), out = dev.buffer(i32, 1), k = kernel((g, out) => { out[0] = 7 })
export const run = async () => { await k.launch({ size: 1 }, out) }
await run()
`
	var engines []*lang.Engine
	for range 3 {
		e, err := inside.Of(rt).NewEngine(lang.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), "same.js", script); err != nil {
			t.Fatal(err)
		}
		engines = append(engines, e)
	}
	if now, total := plugin.counts(); now != 1 || total != 1 {
		t.Errorf("%d of %d libraries for equal kernels", now, total)
	}
	for i, e := range engines {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if now, _ := plugin.counts(); i < 2 && now != 1 {
			t.Errorf("%d libraries after %d engines have ended", now, i+1)
		}
	}
	plugin.await(t, 0, func() {})
}
