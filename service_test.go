package orepl_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
)

// TestServicesOfTheProgram calls Go functions from kernels: values of all types, errors, panics, and names that scripts reuse.
func TestServicesOfTheProgram(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close(context.Background())
	var out bytes.Buffer
	engine, err := rt.Engine(orepl.EngineOptions{Stdout: &out, Services: []orepl.Service{
		{Name: "mix", Func: func(_ context.Context, a int32, b uint32, c int64, d uint64, e float32, f float64, g bool) float64 {
			if a != -1 || b != 4e9 || c != -1<<40 || d != 1<<63 || e != 0.5 || f != 0.1 || !g {
				return 0
			}
			return 1
		}},
		{Name: "fails", Func: func() error { return errors.New("no such row") }},
		{Name: "panics", Func: func() { panic("oops") }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, c := range []struct{ script, want string }{
		{`const o = d.buffer(f64, 1)
		  kernel((g, o) => { o[0] = f64(g.call('mix', i32(-1), u32(4000000000), i64(-1099511627776), u64(9223372036854775808), f32(0.5), f64(0.1), g.x == 0)) }).launch({ size: 1 }, o)
		  console.log((await o.read())[0])`, "1\n"},
		{`await kernel(g => { g.call('fails') }).launch({ size: 1 })`, "the service fails failed: no such row"},
		{`await kernel(g => { g.call('panics') }).launch({ size: 1 })`, "oops"},
		{`rpc.on('fails', {}, () => {})`, "the program that runs the script offers a service named fails"},
		{`rpc.off('fails')`, "belongs to the program"},
		{`console.log(rpc.services.map(s => s.name + s.signature).join())`, "fails(): void,mix(i32, u32, i64, u64, f32, f64, bool): f64,panics(): void\n"},
	} {
		out.Reset()
		_, err := engine.Run(context.Background(), "s.js", "import { device, kernel, rpc, f32, f64, i32, u32, i64, u64 } from 'offload'\nconst d = device()\n"+c.script)
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\ngave %q, want %q", c.script, got, c.want)
		}
	}
	if _, err := rt.Engine(orepl.EngineOptions{Services: []orepl.Service{{Name: "f", Func: 5}}}); err == nil {
		t.Error("a service that is no function is taken")
	}
}
