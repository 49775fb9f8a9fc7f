package orepl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
)

// TestServicesOfTheProgram calls Go functions from kernels, with values of all types, errors, panics, and names that scripts
// redefine.
func TestServicesOfTheProgram(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
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

// TestServicesOfManyItems calls services from all items, some of which fail, exit or outlast their launch.
func TestServicesOfManyItems(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	var out bytes.Buffer
	var wasCalled atomic.Int64
	release, ended := make(chan bool), make(chan bool)
	engine, err := rt.Engine(orepl.EngineOptions{Stdout: &out, Services: []orepl.Service{
		{Name: "next", Func: func(x int32) int32 { return x + 1 }},
		{Name: "fast", AtOnce: true, Func: func(x int32) int32 { return x + 1 }},
		{Name: "panics", AtOnce: true, Func: func(int32) int32 { panic("oops") }},
		{Name: "exits", Func: func(int32) int32 { runtime.Goexit(); return 0 }},
		{Name: "exitsInPlace", AtOnce: true, Func: func(int32) int32 { runtime.Goexit(); return 0 }},
		{Name: "hangs", Func: func(x int32) int32 {
			if wasCalled.Add(1) == 1 {
				<-release
				close(ended)
			}
			return x
		}},
		{Name: "obeys", Func: func(ctx context.Context, x int32) (int32, error) { <-ctx.Done(); return 0, ctx.Err() }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	before := runtime.NumGoroutine()
	for _, c := range []struct{ service, options, want string }{
		{"next", "", "true"},
		{"fast", "", "true"},
		{"panics", "", "the service panics panicked: oops"},
		{"exits", "", "the service exits ended its goroutine"},
		{"exitsInPlace", "", "the service exitsInPlace ended its goroutine"},
		{"fast", "", "true"},
		{"hangs", ", timeout: 20", "[timeout]"},
		{"next", "", "true"},
		{"obeys", ", timeout: 20", "[timeout]"},
		{"fast", "", "true"},
	} {
		out.Reset()
	again:
		_, err := engine.Run(context.Background(), "s.js", fmt.Sprintf(`import { device, kernel, i32 } from 'offload'
			const o = device('cpu').buffer(i32, 5000)
			await kernel((g, o) => { o[g.x] = i32(g.call('%s', i32(g.x))) }).launch({ size: 5000%s }, o)
			console.log((await o.read()).every((v, i) => v === i + 1))`, c.service, c.options))
		if c.service == "hangs" && wasCalled.Load() == 0 { // the timeout preceded the call
			goto again
		}
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s gave %q, want %q", c.service, got, c.want)
		}
	}
	close(release)
	<-ended
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+4; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func BenchmarkService(b *testing.B) {
	for _, atOnce := range []bool{false, true} {
		b.Run(fmt.Sprint("AtOnce=", atOnce), func(b *testing.B) {
			rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
			defer rt.Close()
			engine, err := rt.Engine(orepl.EngineOptions{Services: []orepl.Service{{Name: "next", AtOnce: atOnce, Func: func(x int32) int32 { return x + 1 }}}})
			if err != nil {
				b.Fatal(err)
			}
			defer engine.Close()
			b.ResetTimer()
			_, err = engine.Run(context.Background(), "b.js", fmt.Sprintf(`import { device, kernel, i32 } from 'offload'
				const o = device('cpu').buffer(i32, 1)
				await kernel((g, o, n) => { let s = 0; for (let i = 0; i < n; i++) s = i32(g.call('next', s)); o[0] = s }).launch({ size: 1 }, o, %d)`, b.N))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
