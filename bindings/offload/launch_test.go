package offload_test

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// newEngine makes an engine on the CPU device that ends with the test.
func newEngine(t testing.TB) *lang.Engine {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	e, err := rt.NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// BenchmarkLaunchFromScript is a launch that is not awaited, with a sync every 1000.
func BenchmarkLaunchFromScript(b *testing.B) {
	e := newEngine(b)
	ctx := context.Background()
	exports, err := e.Run(ctx, "launch.js", `
import { device, kernel, f32 } from 'offload'
const k = kernel((g, a, x) => { x[g.x] = a })
const dev = device('cpu'), x = dev.buffer(f32, 16), options = { size: 16 }
export async function launches(n) {
  for (let i = 0; i < n; i++) k.launch(options, 2, x)
  await dev.queue.sync()
}`)
	if err != nil {
		b.Fatal(err)
	}
	fn, _ := goja.AssertFunction(exports.Get("launches"))
	b.ReportAllocs()
	for n := b.N; n > 0; n -= 1000 {
		_, err := e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(min(n, 1000))) })
		if err != nil {
			b.Fatal(err)
		}
	}
}
