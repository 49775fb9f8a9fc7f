package orepl_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/observe/logs"
	"github.com/orepl/orepl/runtime/observe/metrics"
	contract "github.com/orepl/orepl/runtime/offload"
)

// This example fills a buffer on the best device and computes with it.
func ExampleRuntime_Engine() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	_, err = engine.Run(ctx, "sum.js", `
		import { device, kernel, i32 } from 'offload'
		const dev = device(), x = dev.buffer(i32, 1000, i => i), total = dev.buffer(i32, 1)
		kernel((g, x, total) => { Atomics.add(total, 0, x[g.x]) }).launch({ size: 1000 }, x, total)
		console.log((await total.read())[0])`)
	if err != nil {
		diag.Print(os.Stderr, err, false)
	}
	// Output: 499500
}

// This example calls Go functions of the program from kernels, by name, to look up prices.
func ExampleService() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	prices := map[int32]float32{7: 1.5, 9: 4}
	engine, err := rt.Engine(orepl.EngineOptions{Services: []orepl.Service{{Name: "price", Func: func(id int32) (float32, error) {
		p, ok := prices[id]
		if !ok {
			return 0, fmt.Errorf("there is no article %d", id)
		}
		return p, nil
	}}}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	_, err = engine.Run(ctx, "order.js", `
		import { device, kernel, i32, f32 } from 'offload'
		const dev = device(), articles = dev.buffer(i32, 3, i => [7, 9, 7][i]), costs = dev.buffer(f32, 3)
		kernel((g, articles, costs) => { costs[g.x] = 2 * f32(g.call('price', articles[g.x])) }).launch({ size: 3 }, articles, costs)
		console.log(await costs.read())`)
	if err != nil {
		diag.Print(os.Stderr, err, false)
	}
	// Output: Float32Array(3) [ 3, 8, 3 ]
}

// This example loads a pipeline from texts, as from an embed.FS.
func ExampleTexts() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	files := orepl.Texts{"filters/twice.js": `
		import { pipeline, kernel, f32 } from 'offload'
		import { factor } from '../factor.js'
		const scale = kernel((g, x, y) => { y[g.x] = factor * x[g.x] })
		export default pipeline({ inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { scale.launch({ size: x.length }, x, y) } })`,
		"factor.js": "export const factor = 2"}
	twice, err := rt.LoadPipeline(ctx, "filters/twice.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Files: files}})
	if err != nil {
		log.Fatal(err)
	}
	defer twice.Close()
	var y []float32
	fmt.Println(twice.Run(ctx, orepl.Data{"x": []float32{1, 2}}, orepl.Data{"y": &y}), y)
	// Output: <nil> [2 4]
}

// This example prints the error of a value that does not fit, with its path and the position of the value.
func ExampleValue_Decode() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	var settings struct {
		Config struct {
			Title   string
			Timeout time.Duration
			Stages  []struct {
				Name   string
				Radius int
			}
		}
	}
	module, err := engine.RunFile(ctx, "testdata/config.ts")
	if err != nil {
		log.Fatal(err)
	}
	err = module.Decode(ctx, &settings)
	fmt.Println(settings.Config.Title, settings.Config.Timeout)
	var misfit *convert.Error
	if errors.As(err, &misfit) {
		fmt.Println(misfit.Path)
		fmt.Println(misfit)
	}
	// Output:
	// edges 1.5s
	// .config.stages[1].radius
	// testdata/config.ts:6:30: .config.stages[1].radius: expected an integer, not the string "wide"
}

// This example defines a module of Go functions, which the script imports.
func ExampleModule() {
	type Photo struct {
		Name          string
		Width, Height int
	}
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{
		Modules: []orepl.Module{{
			Name: "album", Help: "The photographs of this service.",
			Functions: []orepl.Function{
				{Name: "photos", Help: "Lists the photographs.", Func: func(pattern string) ([]Photo, error) {
					if _, err := filepath.Match(pattern, ""); err != nil {
						return nil, err
					}
					return []Photo{{"lake.png", 640, 480}, {"tree.png", 320, 200}}, nil
				}},
				{Name: "fetch", Help: "Loads one.", Async: true, Func: func(ctx context.Context, name string) ([]byte, error) {
					return []byte{1, 2, 3}, ctx.Err()
				}},
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	_, err = engine.Run(ctx, "album.js", `
		import { photos, fetch } from 'album'
		for (const p of photos('*.png')) console.log(p.name, p.width * p.height, (await fetch(p.name)).length)
		help('album.fetch')`)
	if err != nil {
		diag.Print(os.Stderr, err, false)
	}
	// Output:
	// lake.png 307200 3
	// tree.png 64000 3
	// fetch(a0: string): Promise<Uint8Array>
	//   Loads one.
	//   From module 'album'.
}

// This example limits the files that a script may access and the programs that it may start.
func ExampleEngineOptions_policy() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	inside, err := lang.Inside("testdata")
	if err != nil {
		log.Fatal(err)
	}
	engine, err := rt.Engine(orepl.EngineOptions{
		Policy: lang.Policy{
			Read:  inside,
			Write: func(string) error { return errors.New("scripts write nothing here") },
			Run:   func(path string) error { return errors.New("scripts start nothing here") },
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	_, err = engine.Run(ctx, "policy.js", `
		import fs from 'fs'
		import process from 'process'
		console.log(fs.existsSync('testdata/scale.js'))
		for (const forbidden of [() => fs.readTextSync('go.mod'), () => fs.writeTextSync('testdata/x', ''), () => process.run('go', ['version'])]) {
			try { await forbidden() } catch (e) { console.log(e.code) }
		}`)
	if err != nil {
		diag.Print(os.Stderr, err, false)
	}
	// Output:
	// true
	// permission-denied
	// permission-denied
	// permission-denied
}

// This example lists the program's names and their help, for a completion of the program's own.
func ExampleEngine_Help() {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{Modules: []orepl.Module{{Name: "album", Functions: []orepl.Function{
		{Name: "photos", Func: func(folder string) []string { return nil }, Signature: "(folder: string): string[]", Help: "Lists a folder."},
	}}}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	for _, name := range engine.Names() {
		if strings.HasPrefix(name, "album") {
			fmt.Println(name)
		}
	}
	text, err := engine.Help("album.photos")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output:
	// album
	// album.photos
	// photos(folder: string): string[]
	//   Lists a folder.
	//   From module 'album'.
}

// This example writes declarations of the program's names for editors and tsc.
func ExampleEngine_Declarations() {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{
		Modules: []orepl.Module{{
			Name: "album", Help: "The photographs of this service.",
			Functions: []orepl.Function{
				{Name: "count", Help: "Counts photographs.", Signature: "(pattern: string): number", Func: func(pattern string) int { return len(pattern) }},
			},
		}},
		Globals: map[string]any{"limit": 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	text := engine.Declarations() // os.WriteFile("orepl.d.ts", []byte(text), 0o644)
	fmt.Println(text[strings.Index(text, "/** The photographs"):])
	// Output:
	// /** The photographs of this service. */
	// declare module 'album' {
	//   /** Counts photographs. */
	//   export function count(pattern: string): number
	//   const all: typeof import('album')
	//   export { all as default }
	// }
	//
	// declare const limit: number
}

// This example calls a script's function with Go values.
func ExampleValue_Call() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	module, err := engine.Run(ctx, "rules.js", `export const price = async order => order.count * (order.count > 10 ? 0.9 : 1)`)
	if err != nil {
		log.Fatal(err)
	}
	price, err := module.Get(ctx, "price")
	if err != nil {
		log.Fatal(err)
	}
	result, err := price.Call(ctx, map[string]int{"count": 20})
	if err != nil {
		log.Fatal(err)
	}
	var total float64
	if err := result.Decode(ctx, &total); err != nil {
		log.Fatal(err)
	}
	fmt.Println(total)
	// Output: 18
}

// This example looks at exports whose names and kinds the program does not know.
func ExampleValue_Kind() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	module, err := engine.Run(ctx, "rules.js", "export const limit = 3, rules = [{ name: 'a' }]\nexport function apply() {}")
	if err != nil {
		log.Fatal(err)
	}
	names, err := module.Keys(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		value, err := module.Get(ctx, name)
		if err != nil {
			log.Fatal(err)
		}
		kind, err := value.Kind(ctx)
		fmt.Println(name, kind == orepl.KindFunction, kind, err)
	}
	// Output:
	// apply true function <nil>
	// limit false number <nil>
	// rules false array <nil>
}

// This example lists the names of an object, and takes its values one by one.
func ExampleValue_Keys() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	prices, err := engine.Eval(ctx, "prices.js", "({ apple: 3, pear: 4 })")
	if err != nil {
		log.Fatal(err)
	}
	names, err := prices.Keys(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		var price int
		if value, err := prices.Get(ctx, name); err != nil || value.Decode(ctx, &price) != nil {
			log.Fatal("no price of " + name)
		}
		fmt.Println(name, price)
	}
	// Output:
	// apple 3
	// pear 4
}

// This example waits for the calls of an engine before it closes it.
func ExampleEngine_Shutdown() {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(engine.Shutdown(ctx))
	// Output: <nil>
}

// This example uses declarations of earlier calls of Eval, like a prompt.
func ExampleEngine_Eval() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{Globals: map[string]any{"base": 40}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	for _, line := range []string{"const two = await Promise.resolve(2)", "({ sum: base + two })"} {
		value, err := engine.Eval(ctx, "line.js", line)
		if err != nil {
			log.Fatal(err)
		}
		text, err := value.Text(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(text)
	}
	// Output:
	// undefined
	// { sum: 42 }
}

// This example cancels a script by its context and continues to use the engine.
func ExampleEngine_Run_cancel() {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{Limits: lang.Limits{Memory: 1 << 30}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = engine.Run(ctx, "endless.js", "for (;;);")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	_, err = engine.Run(context.Background(), "next.js", "console.log('next')")
	fmt.Println(err)
	// Output:
	// true
	// next
	// <nil>
}

// This example runs a pipeline on the program's slices from several goroutines.
func ExampleRuntime_LoadPipeline() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	scale, err := rt.LoadPipeline(ctx, "testdata/scale.js", orepl.PipelineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer scale.Close()
	var callers sync.WaitGroup
	results := make([][]float32, 3)
	for i := range results {
		callers.Go(func() {
			err := scale.Run(ctx, orepl.Data{"a": i + 1, "x": []float32{1, 2, 3}}, orepl.Data{"y": &results[i]})
			if err != nil {
				log.Print(err)
			}
		})
	}
	callers.Wait()
	fmt.Println(results)
	err = scale.Run(ctx, orepl.Data{"a": 0, "x": []float32{1}}, nil)
	fmt.Println(strings.Contains(diag.Format(err, false), "testdata/scale.js:9:"))
	// Output:
	// [[1 2 3] [2 4 6] [3 6 9]]
	// true
}

// This example prefers a device that is absent here, and says why the other one was chosen.
func ExamplePipeline_Choices() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	scale, err := rt.LoadPipeline(ctx, "testdata/scale.js", orepl.PipelineOptions{Prefer: []string{"cuda:7", "cpu"}})
	if err != nil {
		log.Fatal(err)
	}
	defer scale.Close()
	for _, c := range scale.Choices() {
		fmt.Println(c.Device, c.Reason)
		for _, other := range c.Passed {
			fmt.Println(other.Device, other.Reason)
		}
	}
	// Output:
	// cpu the first available one of cuda:7, cpu, which the program lists
	// cuda:7 not available: there is no device "cuda:7"
}

// This example spreads the instances of a pipeline over all devices of a plugin: two halves of the processor.
func ExamplePipelineOptions_devices() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{Cores: 2, Devices: 2})}})
	defer rt.Close()
	scale, err := rt.LoadPipeline(ctx, "testdata/scale.js", orepl.PipelineOptions{Devices: []string{"cpu"}, Instances: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer scale.Close()
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			if err := scale.Run(ctx, orepl.Data{"a": 2, "x": make([]float32, 1000)}, nil); err != nil {
				log.Print(err)
			}
		})
	}
	callers.Wait()
	fmt.Println(scale.Choices()[0].Reason)
	// Output: instances are spread over cpu:0, cpu:1, which the program lists; of these it has the fewest, 0
}

// This example follows the file of a pipeline. A version that fails the trial run does not take over.
func ExampleRuntime_Watch() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	watched, err := rt.Watch(ctx, "testdata/scale.js", orepl.WatchOptions{
		Canary:   orepl.Data{"a": 2, "x": []float32{1}},
		OnReload: func(err error) { log.Print("reload: ", err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer watched.Close()
	var y []float32
	if err := watched.Run(ctx, orepl.Data{"a": 2, "x": []float32{1, 2, 3}}, orepl.Data{"y": &y}); err != nil {
		log.Print(err)
	}
	fmt.Println(y, watched.Pipeline().Stats().Runs)
	// Output:
	// [2 4 6] 1
}

// This example sets parameters of a pipeline.
func ExamplePipeline_Params() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	louder, err := rt.LoadPipeline(ctx, "testdata/louder.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Stderr: io.Discard}})
	if err != nil {
		log.Fatal(err)
	}
	defer louder.Close()
	fmt.Print(louder.Describe())
	var y []float32
	err = louder.Run(ctx, orepl.Data{"x": []float32{1, 2}, "gain": 10, "mode": "twice"}, orepl.Data{"y": &y})
	fmt.Println(y, err)
	err = louder.Run(ctx, orepl.Data{"x": []float32{1, 2}, "gain": 20}, orepl.Data{"y": &y})
	fmt.Println(err)
	// Output:
	// louder.js on cpu
	//   param   gain: f32 = 1.5 (0.1 to 10 dB): how much louder
	//   param   mode: string = "once" ("once", "twice")
	//   input   x: f32[]
	//   output  y: f32[…]
	// [10 20] <nil>
	// run "louder.js" on cpu: the parameter "gain" is 20, not at most 10 dB [invalid-argument]
}

// This example takes settings from a script, environment variables and flags; later ones take precedence.
func ExampleLoad() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	type settings struct {
		Port   uint16 `check:"min=1024" doc:"the port of the service"`
		Stages struct {
			Blur  float64 `check:"min=0 max=10"`
			Edges bool
		}
		Token string `orepl:"token,secret"`
	}
	defaults := settings{Port: 8080, Token: "none"}
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	s, err := orepl.Load(ctx, defaults, orepl.FromScript(engine, "testdata/settings.ts"),
		orepl.FromEnvironment("SERVICE"), orepl.FromFlags(flags, []string{"-stages.blur", "4"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Value.Port, s.From("port"))
	fmt.Println(s.Value.Stages.Blur, s.From("stages.blur"))
	_, err = orepl.Load(ctx, defaults, orepl.FromFlags(flag.NewFlagSet("service", flag.ContinueOnError), []string{"-port=80"}))
	fmt.Println(err)
	// Output:
	// 9000 testdata/settings.ts:1:29
	// 4 the flag -stages.blur
	// the flag -port: port is 80, which breaks the rule min=1024
}

// This example loads a secret, which only Reveal returns.
func ExampleSecret() {
	type settings struct {
		Port  uint16       `check:"min=1024" doc:"the port of the service"`
		Token orepl.Secret `orepl:"token,required" check:"len=8..64"`
	}
	values := map[string]any{"token": "open sesame"}
	s, err := orepl.Load(context.Background(), settings{Port: 8080}, orepl.FromValues("service.json", values, nil))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Value, s.Value.Token.Reveal())
	_, err = orepl.Load(context.Background(), settings{Port: 8080}, orepl.FromValues("service.json", map[string]any{"token": "short"}, nil))
	fmt.Println(err)
	// Output:
	// {8080 (secret)} open sesame
	// service.json: token is (secret), which breaks the rule len=8..64
}

// This example prints a secret in several ways.
func ExampleNewSecret() {
	token := orepl.NewSecret("open sesame")
	text, err := json.Marshal(map[string]orepl.Secret{"token": token})
	fmt.Println(string(text), err)
	fmt.Printf("%v %q %#v %s\n", token, token, token, token.Reveal())
	// Output:
	// {"token":"(secret)"} <nil>
	// (secret) (secret) (secret) open sesame
}

// This example describes settings for editors and documents.
func ExampleSettingsOf() {
	type settings struct {
		Port  uint16       `check:"min=1024" doc:"the port of the service"`
		Token orepl.Secret `orepl:"token,required" check:"len=8..64"`
	}
	s, err := orepl.SettingsOf(settings{Port: 8080})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(s.Markdown(), s.TypeScript("Settings"), string(s.Schema("service")))
	// Output:
	// | setting | type | default | rules | meaning |
	// |---|---|---|---|---|
	// | `port` | number | `8080` | `min=1024` | the port of the service |
	// | `token` | string | (secret) | `len=8..64` |  |
	// export interface Settings {
	//   /** the port of the service (min=1024) */
	//   port?: number
	//   /** (len=8..64) */
	//   token: string
	// }
	// {
	//   "$schema": "https://json-schema.org/draft/2020-12/schema",
	//   "title": "service",
	//   "type": "object",
	//   "properties": {
	//     "port": {
	//       "type": "integer",
	//       "description": "the port of the service",
	//       "default": 8080,
	//       "minimum": 1024,
	//       "maximum": 65535
	//     },
	//     "token": {
	//       "type": "string",
	//       "minLength": 8,
	//       "maxLength": 64,
	//       "writeOnly": true
	//     }
	//   },
	//   "required": [
	//     "token"
	//   ],
	//   "additionalProperties": false
	// }
}

// A tenant may do what its fields allow.
func ExampleTenant() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	opts, err := orepl.Tenant{Name: "acme", Read: []string{"data/acme"}, Devices: []string{"cpu", "cuda"}}.Options()
	if err != nil {
		log.Fatal(err)
	}
	pipeline, err := rt.LoadPipeline(ctx, "acme/filter.js", orepl.PipelineOptions{Engine: opts})
	if err != nil {
		log.Fatal(err)
	}
	defer pipeline.Close()
}

// CheckPipeline returns all problems of a pipeline.
func ExampleRuntime_CheckPipeline() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	for _, d := range diag.All(rt.CheckPipeline(ctx, "testdata/scale.js", orepl.PipelineOptions{}, nil)) {
		fmt.Println(d.File, d.Line, d.Column, d.ID, d.Message, d.Hint)
	}
	// Output:
}

// Hooks count and log what a runtime does.
func ExampleOptions_observe() {
	counts := &metrics.Metrics{} // runtime/observe/metrics; an http.Handler that answers in the text format of Prometheus
	rt := orepl.Open(orepl.Options{
		Plugins: all.Plugins(),
		Observe: observe.All(counts.Observe, logs.New(slog.Default(), logs.Options{Slow: time.Second})),
	})
	defer rt.Close()
	// Output:
}
