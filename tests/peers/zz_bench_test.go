package main

import (
	"context"
	"testing"

	"github.com/dop251/goja"
	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/all"
)

func BenchmarkScriptLaunch(b *testing.B) {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close(ctx)
	e, err := rt.NewEngine(lang.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	exports, err := e.Run(ctx, "launches.js", `
import { device, kernel } from 'offload'
const k = kernel((g) => {}), q = device('cpu').queue, options = { size: 1 }
export async function launches(n) {
  for (let i = 0; i < n; i++) k.launch(options)
  await q.sync()
}
await launches(10)`)
	if err != nil {
		b.Fatal(err)
	}
	fn, _ := goja.AssertFunction(exports.Get("launches"))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += 1000 {
		if _, err := e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(1000)) }); err != nil {
			b.Fatal(err)
		}
	}
}
