package orepl_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"io"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/config/files"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

const addOne = `import { pipeline, kernel, f32 } from 'offload'
const add = kernel((g, x, y) => { y[g.x] = x[g.x] + 1 })
export default pipeline({ device: 'cpu', inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { add.launch({ size: x.length }, x, y) } })`

// attempt returns the error of a call, or its panic.
func attempt(call func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	return call()
}

// TestNoContext passes a nil context to every function that takes one.
func TestNoContext(t *testing.T) {
	rt := open(t)
	path := write(t, "p.js", addOne)
	p := load(t, rt, addOne, orepl.PipelineOptions{})
	w, err := rt.Watch(context.Background(), path, orepl.WatchOptions{Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	e := engine(t, rt, orepl.EngineOptions{})
	v, err := e.Eval(context.Background(), "v", "({ a: 1 })")
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	x := orepl.Data{"x": []float32{1}}
	for name, call := range map[string]func() error{
		"LoadPipeline":      func() error { _, err := rt.LoadPipeline(none, path, orepl.PipelineOptions{}); return err },
		"CheckPipeline":     func() error { return rt.CheckPipeline(none, path, orepl.PipelineOptions{}, nil) },
		"Watch":             func() error { _, err := rt.Watch(none, path, orepl.WatchOptions{}); return err },
		"Test":              func() error { _, err := rt.Test(none, path, orepl.TestOptions{}); return err },
		"Register":          func() error { _, err := rt.Register(none, "x", []byte("x")); return err },
		"Runtime.Shutdown":  func() error { return rt.Shutdown(none) },
		"Pipeline.Run":      func() error { return p.Run(none, x, nil) },
		"Pipeline.Check":    func() error { return p.Check(none, nil) },
		"Pipeline.Shutdown": func() error { return p.Shutdown(none) },
		"Watched.Run":       func() error { return w.Run(none, x, nil) },
		"Watched.Shutdown":  func() error { return w.Shutdown(none) },
		"Engine.Run":        func() error { _, err := e.Run(none, "a.js", "1"); return err },
		"Engine.RunFile":    func() error { _, err := e.RunFile(none, path); return err },
		"Engine.Eval":       func() error { _, err := e.Eval(none, "a.js", "1"); return err },
		"Engine.Shutdown":   func() error { return e.Shutdown(none) },
		"Value.Get":         func() error { _, err := v.Get(none, "a"); return err },
		"Value.Decode":      func() error { return v.Decode(none, new(any)) },
		"Value.Call":        func() error { _, err := v.Call(none); return err },
		"Value.Text":        func() error { _, err := v.Text(none); return err },
		"Value.Kind":        func() error { _, err := v.Kind(none); return err },
		"Value.Keys":        func() error { _, err := v.Keys(none); return err },
		"Load":              func() error { _, err := orepl.Load(none, struct{ A int }{}); return err },
	} {
		if err := attempt(call); diag.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), "the context is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() error{ // all of them still work
		"Pipeline.Run": func() error { return p.Run(context.Background(), x, nil) },
		"Watched.Run":  func() error { return w.Run(context.Background(), x, nil) },
		"Engine.Eval":  func() error { _, err := e.Eval(context.Background(), "a.js", "1"); return err },
	} {
		if err := attempt(call); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// badContext is a context whose methods panic, as those of a nil pointer in an interface do.
type badContext struct{ context.Context }

// TestPanicKeepsInstances runs pipelines with contexts and hooks that panic, more often than there are instances.
func TestPanicKeepsInstances(t *testing.T) {
	p := load(t, open(t), addOne, orepl.PipelineOptions{Instances: 2})
	for range 4 {
		if err := attempt(func() error { return p.Run(badContext{}, orepl.Data{"x": []float32{1}}, nil) }); !strings.Contains(fmt.Sprint(err), "panic") {
			t.Fatal(err)
		}
		if err := attempt(func() error { return p.Check(badContext{}, nil) }); !strings.Contains(fmt.Sprint(err), "panic") {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var y []float32
	for range 4 {
		if err := p.Run(ctx, orepl.Data{"x": []float32{1}}, orepl.Data{"y": &y}); err != nil || y[0] != 2 {
			t.Fatal(err, y)
		}
	}
	if s := p.Stats(); s.Running != 0 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// TestZeroValues calls values that no function returned.
func TestZeroValues(t *testing.T) {
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"Pipeline.Run":      func() error { return new(orepl.Pipeline).Run(ctx, nil, nil) },
		"Pipeline.Check":    func() error { return new(orepl.Pipeline).Check(ctx, nil) },
		"Pipeline.Shutdown": func() error { return new(orepl.Pipeline).Shutdown(ctx) },
		"nil Pipeline":      func() error { var p *orepl.Pipeline; return p.Run(ctx, nil, nil) },
		"Watched.Run":       func() error { return new(orepl.Watched).Run(ctx, nil, nil) },
		"Watched.Shutdown":  func() error { return new(orepl.Watched).Shutdown(ctx) },
		"Value.Get":         func() error { _, err := new(orepl.Value).Get(ctx, "a"); return err },
		"Value.Decode":      func() error { return new(orepl.Value).Decode(ctx, new(any)) },
		"Value.Call":        func() error { _, err := new(orepl.Value).Call(ctx); return err },
		"nil Value":         func() error { var v *orepl.Value; _, err := v.Text(ctx); return err },
	} {
		if err := attempt(call); diag.Code(err) != "invalid-argument" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNilAndZero calls every method of the nil and the zero value of each type that programs get by a call which may
// fail: Close does nothing, other methods with an error fail, and the rest return empty results.
func TestNilAndZero(t *testing.T) {
	empty := map[string]bool{"Parse": true} // a copy of its argument, checked by TestParse
	ctx := reflect.ValueOf(context.Background())
	for _, value := range []any{
		(*orepl.Pipeline)(nil), new(orepl.Pipeline), (*orepl.Watched)(nil), new(orepl.Watched),
		(*orepl.Engine)(nil), new(orepl.Engine), (*orepl.Runtime)(nil), new(orepl.Runtime), (*orepl.Value)(nil), new(orepl.Value),
	} {
		v := reflect.ValueOf(value)
		for i := range v.NumMethod() {
			name, method := v.Type().Method(i).Name, v.Method(i)
			var in []reflect.Value
			for at := range method.Type().NumIn() {
				switch arg := method.Type().In(at); {
				case method.Type().IsVariadic() && at == method.Type().NumIn()-1:
				case arg == reflect.TypeFor[context.Context]():
					in = append(in, ctx)
				default:
					in = append(in, reflect.Zero(arg))
				}
			}
			var out []reflect.Value
			if err := attempt(func() error { out = method.Call(in); return nil }); err != nil {
				t.Errorf("%T.%s (nil: %t): %v", value, name, v.IsNil(), err)
				continue
			}
			last := out[len(out)-1]
			if last.Type() == reflect.TypeFor[error]() && name != "Close" {
				if err, _ := last.Interface().(error); diag.Code(err) != "invalid-argument" {
					t.Errorf("%T.%s (nil: %t): %v", value, name, v.IsNil(), err)
				}
				out = out[:len(out)-1]
			}
			for _, one := range out {
				if !one.IsZero() && !empty[name] && name != "IsUndefined" {
					t.Errorf("%T.%s (nil: %t): %v", value, name, v.IsNil(), one)
				}
			}
		}
	}
}

// TestOptionsChecked sets options that cannot be meant, each of which is refused when it is set.
func TestOptionsChecked(t *testing.T) {
	rt := open(t)
	for name, wrong := range map[string]orepl.Tenant{
		"Read":         {Read: []string{""}},
		"Write":        {Write: []string{"testdata", ""}},
		"Run":          {Run: []string{""}},
		"Devices":      {Devices: []string{"cpu", ""}},
		"Time":         {Limits: lang.Limits{Time: -1}},
		"CallDepth":    {Limits: lang.Limits{CallDepth: -1}},
		"Memory":       {Limits: lang.Limits{Memory: math.MaxUint64 - 1<<20 + 1}},
		"Iterations":   {Limits: lang.Limits{Iterations: math.MaxUint64}},
		"DeviceMemory": {Limits: lang.Limits{DeviceMemory: 1 << 63}},
		"Launches":     {Limits: lang.Limits{Launches: math.MaxUint64}},
	} {
		opts, err := wrong.Options()
		if diag.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), name) || opts.Policy.Read != nil {
			t.Errorf("%s: %v", name, err)
		}
		if opts = (orepl.EngineOptions{Limits: wrong.Limits}); wrong.Limits == (lang.Limits{}) {
			continue
		}
		if _, err := rt.Engine(opts); diag.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), name) {
			t.Errorf("an engine with %s: %v", name, err)
		}
		opts.Isolate = true
		if _, err := rt.LoadPipeline(context.Background(), write(t, "p.js", addOne), orepl.PipelineOptions{Engine: opts}); diag.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), name) {
			t.Errorf("an isolated pipeline with %s: %v", name, err)
		}
	}
	for _, env := range []map[string]string{{"": "x"}, {"a=b": "x"}, {"a": "\x00"}} {
		if _, err := rt.Engine(orepl.EngineOptions{Env: env}); diag.Code(err) != "invalid-argument" {
			t.Errorf("Env %q: %v", env, err)
		}
	}
	none, err := orepl.Tenant{Devices: []string{}}.Options()
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Policy.Device("cpu"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
}

// TestModulesChecked makes engines with modules and globals that scripts cannot have.
func TestModulesChecked(t *testing.T) {
	rt := open(t)
	var none func()
	for want, functions := range map[string][]orepl.Function{
		`two exports named "a"`:                    {{Name: "a", Func: func() {}}, {Name: "a", Func: func() int { return 1 }}},
		`two exports named "value"`:                {{Name: "value", Func: func() {}}},
		"Func of m.f is nil":                       {{Name: "f", Func: none}},
		"a script cannot have a value":             {{Name: "f", Func: func(chan int) {}}},
		"cannot pass a value of the Go type error": {{Name: "f", Func: func(int, error) {}}},
		"the Go type func(int)":                    {{Name: "f", Func: func(...func(int)) {}, Async: true}},
		"m.f returns 2 results":                    {{Name: "f", Func: func() (int, int) { return 1, 2 }}},
	} {
		_, err := rt.Engine(orepl.EngineOptions{Modules: []orepl.Module{{Name: "m", Functions: functions, Values: map[string]any{"value": 1}}}})
		if diag.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := rt.Engine(orepl.EngineOptions{Globals: map[string]any{"undefined": 1}}); err == nil || !strings.Contains(err.Error(), "the global undefined: ") {
		t.Error(err)
	}
}

// TestSourcesChecked passes values that are no sources of settings, or cannot be.
func TestSourcesChecked(t *testing.T) {
	type settings struct{ Addr, Port string }
	taken := flag.NewFlagSet("x", flag.ContinueOnError)
	taken.String("addr", "", "")
	taken.String("port", "", "")
	for want, source := range map[string]orepl.Source{
		"the source 1 is none":    {},
		"the engine is nil":       orepl.FromScript(nil, "a.js"),
		"the set of flags is nil": orepl.FromFlags(nil, nil),
		"the flag -port":          orepl.FromFlags(taken, nil),
		"file system is nil":      orepl.FromValues(files.Read(nil, "a.json")),
	} {
		if err := attempt(func() error { _, err := orepl.Load(context.Background(), settings{}, source); return err }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestTenantPrintsNothing checks that what a tenant's scripts print goes where the program says, and that an error is one line.
func TestTenantPrintsNothing(t *testing.T) {
	rt := open(t)
	opts, err := orepl.Tenant{}.Options()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Stdout != io.Discard || opts.Stderr != io.Discard {
		t.Error("a tenant prints to the streams of the process")
	}
	var out strings.Builder
	if opts, err = (orepl.Tenant{Output: &out}).Options(); err != nil {
		t.Fatal(err)
	}
	e := engine(t, rt, opts)
	_, err = e.Run(context.Background(), "a.js", "console.log('printed')\nthrow new Error('one\\ntwo\\x1b[31m\\r\u2028three')")
	if out.String() != "printed\n" {
		t.Errorf("%q", out.String())
	}
	if err == nil || strings.ContainsAny(err.Error(), "\n\r\x1b\u2028") || !strings.Contains(err.Error(), "one two") {
		t.Errorf("%q", err)
	}
}

// TestInvalidDate decodes a date that is none.
func TestInvalidDate(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	m, err := e.Run(context.Background(), "a.js", "export const at = new Date(NaN)")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []any{&struct{ At time.Time }{}, &struct{ At *time.Time }{}, &struct{ At any }{}, &map[string]time.Time{}} {
		if err := m.Decode(context.Background(), to); err == nil || !strings.HasPrefix(err.Error(), "a.js:1:19: .at: the date is invalid") {
			t.Errorf("%T: %v", to, err)
		}
	}
}

// TestClosedEngine calls an engine that is closed.
func TestClosedEngine(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), "a.js", "1"); orepl.CodeOf(err) != orepl.CodeClosed {
		t.Error(err)
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestCallersFaults runs a pipeline, also by its recording, on values of types that do not fit: each is refused as the caller's fault.
func TestCallersFaults(t *testing.T) {
	p := load(t, open(t), addOne, orepl.PipelineOptions{Instances: 1})
	x := orepl.Data{"x": []float32{1}}
	flat := load(t, open(t), strings.ReplaceAll(addOne, "f32", "u8"), orepl.PipelineOptions{Instances: 1})
	for range 3 {
		for want, run := range map[string]func() error{
			`the output "y" is a nil pointer`: func() error { return p.Run(context.Background(), x, orepl.Data{"y": (*[]float32)(nil)}) },
			`the output "y" is a nil`:         func() error { return p.Run(context.Background(), x, orepl.Data{"y": (*orepl.Array[float32])(nil)}) },
			`the output "y" is a`:             func() error { return p.Run(context.Background(), x, orepl.Data{"y": (*image.Gray)(nil)}) },
			`the input "x" is nil`:            func() error { return p.Run(context.Background(), orepl.Data{"x": nil}, nil) },
			`the input "x" is nil: expected`: func() error {
				return p.Run(context.Background(), orepl.Data{"x": (*orepl.Array[float32])(nil)}, nil)
			},
			`the input "x" is`: func() error { return p.Run(context.Background(), orepl.Data{"x": (*big.Int)(nil)}, nil) },
			"draw.Draw": func() error {
				err := p.Run(context.Background(), orepl.Data{"x": image.NewYCbCr(image.Rect(0, 0, 2, 2), image.YCbCrSubsampleRatio444)}, nil)
				if !strings.Contains(diag.Hint(err), "draw.Draw") {
					t.Errorf("the hint is %q", diag.Hint(err))
				}
				return errors.Join(orepl.ErrRefused, err, errors.New("draw.Draw"))
			},
			"a picture has two": func() error {
				return flat.Run(context.Background(), orepl.Data{"x": []uint8{1}}, orepl.Data{"y": &image.Gray{}})
			},
		} {
			if err := attempt(run); !errors.Is(err, orepl.ErrRefused) || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "the output") > 1 {
				t.Errorf("%v, want %s", err, want)
			}
		}
		var y []uint8
		if err := flat.Run(context.Background(), orepl.Data{"x": []uint8{1}}, orepl.Data{"y": &y}); err != nil || y[0] != 2 {
			t.Error(err, y)
		}
	}
}

// TestShutdownTooLate shuts a pipeline down while a run goes on: the error says so, and does not speak of a script.
func TestShutdownTooLate(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	p := load(t, open(t), strings.Replace("import { hold } from 'own'\n"+addOne, "{ add.launch", "{ hold(); add.launch", 1), orepl.PipelineOptions{Engine: orepl.EngineOptions{Modules: []orepl.Module{
		{Name: "own", Functions: []orepl.Function{{Name: "hold", Func: func() { begun <- true; <-end }}}},
	}}})
	ran := make(chan error)
	go func() { ran <- p.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil) }()
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := p.Shutdown(ctx); orepl.CodeOf(err) != orepl.CodeTimeout || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "runs went on") {
		t.Error(err)
	}
	close(end)
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// TestAllMisfits passes several values that do not fit, numbers among them: all are reported at once.
func TestAllMisfits(t *testing.T) {
	p := load(t, open(t), `import { pipeline, f32, i32 } from 'offload'
export default pipeline({ device: 'cpu', params: { n: { type: i32, max: 9, default: 1 } }, inputs: { x: [f32], m: i32 }, run() {} })`, orepl.PipelineOptions{Instances: 1})
	wrong := orepl.Data{"n": 99, "m": 0.5, "x": 5}
	for name, err := range map[string]error{"Run": p.Run(context.Background(), wrong, nil), "Check": p.Check(context.Background(), wrong)} {
		for _, value := range []string{`"n"`, `"m"`, `"x"`} {
			if err == nil || strings.Count(err.Error(), value) != 1 {
				t.Errorf("%s: %v, want %s once", name, err, value)
			}
		}
	}
	if err := p.Run(context.Background(), orepl.Data{"n": 2, "m": 1, "x": []float32{1}}, nil); err != nil {
		t.Error(err)
	}
	for declared, want := range map[string]string{"['f32']": `"f32" is no type`, "[o.f33]": "undefined is no type", "[]": "undefined is no type"} {
		_, err := open(t).LoadPipeline(context.Background(), write(t, "p.js", "import * as o from 'offload'\nexport default o.pipeline({ inputs: { x: "+declared+" }, run() {} })"), orepl.PipelineOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestFractions checks a pipeline whose parameter with fractions is passed to a kernel as an integer.
func TestFractions(t *testing.T) {
	rt := open(t)
	text := func(param string) string {
		return `import { pipeline, kernel, f32, i32 } from 'offload'
const k = kernel((g, n, y) => { for (let i = 0; i < n; i++) y[g.x] = y[g.x] + 1 })
export default pipeline({ device: 'cpu', params: { n: ` + param + ` }, outputs: { y: [f32, [4]] }, run({ n, y }) { k.launch({ size: 4 }, n, y) } })`
	}
	for param, want := range map[string]string{
		"{ type: f32, default: 1, max: 4 }": "fraction-for-integer-parameter", "{ type: f32, default: 1, min: 1, max: 1 }": "", "{ type: f32, values: [1, 2], default: 1 }": "", "{ type: i32, default: 1 }": "",
	} {
		path := write(t, "p.js", text(param))
		err := rt.CheckPipeline(context.Background(), path, orepl.PipelineOptions{}, nil)
		if diag.Code(err) != want || len(diag.All(err)) > 1 {
			t.Errorf("%s: %v, want %q", param, err, want)
		}
		if err := rt.CheckPipeline(context.Background(), path, orepl.PipelineOptions{}, orepl.Data{"n": 1}); err != nil {
			t.Errorf("%s: with a value: %v", param, err)
		}
	}
}

// TestExpected passes values of wrong types and names. Each error says what is expected.
func TestExpected(t *testing.T) {
	p := load(t, open(t), `import { pipeline, f32, i32, u8, bool } from 'offload'
export default pipeline({ device: 'cpu', params: { radius: f32, mode: { values: ['a', 'b'], default: 'a' }, on: { type: bool, default: true } }, inputs: { x: [f32], m: [i32, 2], gray: [u8, 2], rgb: [u8, 3] }, run() {} })`, orepl.PipelineOptions{Instances: 1})
	for want, in := range map[string]orepl.Data{
		`the input "x" cannot be of type []int: expected []float32`:                                                            {"x": []int{1}},
		`the input "x" is nil: expected []float32`:                                                                             {"x": nil},
		`the input "m" cannot be of type [][]int32: expected an orepl.Array[int32] with 2 extents`:                             {"m": [][]int32{}},
		`the input "gray" cannot be of type *image.YCbCr: expected an *image.Gray or an orepl.Array[uint8] with 2 extents`:     {"gray": image.NewYCbCr(image.Rect(0, 0, 1, 1), 0)},
		`the input "rgb" cannot be of type *image.Paletted: expected an *image.NRGBA, an *image.RGBA or an orepl.Array[uint8]`: {"rgb": image.NewPaletted(image.Rect(0, 0, 1, 1), nil)},
		`the input "radius" is nil: expected a number`:                                                                         {"radius": (*big.Int)(nil)},
		`the input "mode" cannot be of type []string: expected a string`:                                                       {"mode": []string{}},
		`the input "on" cannot be of type struct {}: expected a bool`:                                                          {"on": struct{}{}},
		`there is no input "radus": did you mean radius?`:                                                                      {"radus": 1},
		`the parameter "mode" is "", not one of "a", "b" [`:                                                                    {"mode": "", "radius": 1, "x": []float32{}, "m": orepl.Array[int32]{Shape: []int{0, 0}}, "gray": &image.Gray{}, "rgb": &image.NRGBA{}},
	} {
		if err := p.Run(context.Background(), in, nil); !errors.Is(err, orepl.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestPlacesOfLimits exceeds limits in scripts of pipelines: each error has a file, line and column.
func TestPlacesOfLimits(t *testing.T) {
	rt := open(t)
	for _, c := range []struct{ run, want string }{
		{"run({ x, y }) {\n for (;;);\n}", "e.js:4:"},
		{"run({ x, y }) {\n let i = 0\n while (true) i++\n}", "e.js:6:"},
		{"async run({ x, y }) {\n await new Promise(() => setTimeout(() => {}, 1e9))\n}", "e.js:4:"},
		{"run({ x, y }) { y.free() }", "e.js:3:"},
		{"run({ x, y }) { const all = []; for (;;) all.push(new Array(1e5).fill(1)) }", "e.js:4:"},
	} {
		text := "import { pipeline, kernel, f32 } from 'offload'\nexport default pipeline({ device: 'cpu',\n inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },\n" + c.run + " })"
		opts := orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 300 * time.Millisecond, Memory: 64 << 20}}}
		p := load(t, rt, text, opts)
		var y []float32
		err := p.Run(context.Background(), orepl.Data{"x": []float32{1}}, orepl.Data{"y": &y})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.run, err, c.want)
		}
	}
	for want, text := range map[string]string{
		"p.js:1:1: the script ran longer": "for (;;);\n", "p.js:3:": "import { pipeline, f32 } from 'offload'\nexport default pipeline({ device: 'cpu', inputs: {}, outputs: {\n y: [f32, [2 ** 31, 900]] },\nrun() {} })",
	} {
		p, err := rt.LoadPipeline(context.Background(), write(t, "p.js", text), orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 300 * time.Millisecond}}})
		if err == nil {
			err = p.Run(context.Background(), nil, nil)
			defer p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
