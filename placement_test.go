package orepl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
)

// absent is a plugin whose driver is missing.
type absent struct{}

func (absent) Name() string { return "absent" }
func (absent) Open(context.Context) (offload.Platform, error) {
	return nil, offload.Errorf(offload.NotFound, "open", "there is no driver")
}

// placed returns a runtime with the devices cpu:0, cpu:1, flaky:0, which loss loses, and none of the plugin absent. spans has the
// spans of instances.
func placed(t *testing.T) (rt *orepl.Runtime, loss *far.Loss, spans func() []observe.Span) {
	var mu sync.Mutex
	var list []observe.Span
	loss = far.NewLoss(0)
	rt = orepl.Open(orepl.Options{
		Plugins: []offload.Plugin{absent{}, cpu.New(cpu.Options{Cores: 2, Devices: 2}), far.WrapLossy("flaky", cpu.New(cpu.Options{Cores: 1}), loss)},
		Observe: func(s observe.Span) {
			mu.Lock()
			defer mu.Unlock()
			if s.Kind == observe.Instance {
				list = append(list, s)
			}
		},
	})
	t.Cleanup(func() { _ = rt.Close() }) // reports the lost device
	return rt, loss, func() []observe.Span {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// wishing returns the text of a pipeline with a property of its declaration, such as "prefer: ['cpu']". Each run calls visit of the
// module 'gate' with the device's id.
func wishing(wish string) string {
	return `import { pipeline, kernel, f32 } from 'offload'
import { visit } from 'gate'
const twice = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] })
export default pipeline({
  ` + wish + `
  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
  async run({ x, y, device }) { await visit(device.id); twice.launch({ size: x.length }, x, y) },
})`
}

// gated returns options with the module 'gate', whose function visit calls fn.
func gated(fn func(id string), opts orepl.PipelineOptions) orepl.PipelineOptions {
	opts.Engine.Modules = []orepl.Module{{Name: "gate", Functions: []orepl.Function{{Name: "visit", Async: true, Func: fn}}}}
	return opts
}

// TestPlacementMisspelt checks that a misspelt device in a list is told with the name that resembles it, before and after the plugins
// are open, whether another device of the list is available or not.
func TestPlacementMisspelt(t *testing.T) {
	rt, _, _ := placed(t)
	for range 2 {
		for name, near := range map[string]string{"flakey": "flaky", "absnt": "absent", "falky": "flaky", "cpu:2": "cpu:", "gpus": "gpu"} {
			for _, opts := range []orepl.PipelineOptions{{Prefer: []string{name}}, {Devices: []string{name}}} {
				_, err := rt.LoadPipeline(t.Context(), write(t, "p.js", wishing("")), gated(func(string) {}, opts))
				if err == nil || !strings.Contains(err.Error(), `there is no device "`+name+`": did you mean "`+near) {
					t.Errorf("%v: %v", opts, err)
				}
			}
			p, err := rt.LoadPipeline(t.Context(), write(t, "p.js", wishing("prefer: ['"+name+"', 'cpu'],")), gated(func(string) {}, orepl.PipelineOptions{}))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Choices()[0].String(); !strings.Contains(got, "did you mean") {
				t.Errorf("%s: %s", name, got)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPlacement(t *testing.T) {
	rt, _, spans := placed(t)
	for i, c := range []struct {
		wish            string // of the script
		prefer, devices []string
		want            string // the choice
	}{
		{"prefer: ['absent', 'cpu:1', 'flaky'],", nil, nil,
			"cpu:1: the first available one of absent, cpu:1, flaky; absent: not available: there is no driver; flaky: it comes after cpu:1 in the list"},
		{"device: ['absent', 'flaky'],", nil, nil, "flaky:0: the first available one of absent, flaky; absent: not available: there is no driver"},
		{"prefer: ['cpu'],", nil, nil, "cpu:0: the first available one of cpu; cpu:1: it comes after cpu:0"},
		{"prefer: ['cpu:7', 'cpu:0'],", nil, nil, `cpu:0: the first available one of cpu:7, cpu:0; cpu:7: not available: there is no device "cpu:7": did you mean "cpu:0"?`},
		{"prefer: ['cpu:1'],", []string{"flaky", "cpu"}, nil,
			"flaky:0: the first available one of flaky, cpu, which the program lists; cpu: it comes after flaky in the list"},
		{"", []string{"cpu:1"}, nil, "cpu:1: the first available one of cpu:1, which the program lists"},
		{"device: 'cpu:0',", []string{"flaky"}, nil, "cpu:0: the script requires it"},
		{"device: 'cpu:0',", nil, []string{"flaky", "cpu:1"}, "cpu:0: the script requires it"},
		{"devices: ['flaky', 'cpu:1'],", nil, nil, "flaky:0: instances are spread over flaky:0, cpu:1; of these it has the fewest, 0; cpu:1: it has 0"},
		{"prefer: ['flaky'],", nil, []string{"absent", "cpu"},
			"cpu:0: instances are spread over cpu:0, cpu:1, which the program lists; of these it has the fewest, 0; absent: not available: there is no driver; cpu:1: it has 0"},
	} {
		p := load(t, rt, wishing(c.wish), gated(func(string) {}, orepl.PipelineOptions{Prefer: c.prefer, Devices: c.devices}))
		list := p.Choices()
		if len(list) != 1 || list[0].String() != c.want || list[0].Instances != 1 {
			t.Errorf("%s %v %v: %+v, want %s", c.wish, c.prefer, c.devices, list, c.want)
			continue
		}
		if p.Device() != list[0].Device {
			t.Errorf("%s: device %s", c.wish, p.Device())
		}
		all := spans()
		if len(all) != i+1 || all[i].Detail != c.want || all[i].Device != p.Device() || all[i].Name == "" || all[i].Context == nil {
			t.Errorf("%s: the hook received %+v", c.wish, all[i:])
		}
		var y []float32
		if err := p.Run(t.Context(), orepl.Data{"x": []float32{3}}, orepl.Data{"y": &y}); err != nil || y[0] != 6 {
			t.Errorf("%s: %v, %v", c.wish, y, err)
		}
	}
}

// TestPlacementWarns checks that a preference for devices that this machine lacks is no warning, unless an id is misspelt.
func TestPlacementWarns(t *testing.T) {
	rt, _, _ := placed(t)
	for wish, warned := range map[string]bool{"prefer: ['absent', 'cpu'],": false, "prefer: ['absnt', 'cpu'],": true, "devices: ['absent', 'cpu'],": true} {
		var printed strings.Builder
		load(t, rt, wishing(wish), gated(func(string) {}, orepl.PipelineOptions{Engine: orepl.EngineOptions{Stderr: &printed}}))
		if strings.Contains(printed.String(), "warning") != warned {
			t.Errorf("%s printed %q", wish, printed.String())
		}
	}
}

// TestPlacementOfTheBest checks what is said of the devices that are not the best one.
func TestPlacementOfTheBest(t *testing.T) {
	rt, loss, _ := placed(t)
	of := func(wish string) string {
		return load(t, rt, wishing(wish), gated(func(string) {}, orepl.PipelineOptions{})).Choices()[0].String()
	}
	of("device: 'cpu',") // opens the plugin
	if got, want := of(""), "flaky:0: the best available device; absent: there is no driver; cpu:0: it comes after flaky:0; cpu:1: it comes after flaky:0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	loss.Lose()
	if got, want := of(""), "cpu:0: the best available device; absent: there is no driver; cpu:1: it comes after cpu:0; flaky:0: it is lost"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPlacementRefuses(t *testing.T) {
	rt, loss, spans := placed(t)
	for _, c := range []struct {
		wish            string
		prefer, devices []string
		code, want      string
	}{
		{"prefer: ['absent', 'nowhere:1'],", nil, nil, "not-found", `5:11: pipeline: no device of the list is available: absent is not available: there is no driver; nowhere:1 is not available: there is no device "nowhere:1"`},
		{"devices: ['absent'],", nil, nil, "not-found", "no device of the list is available"},
		{"prefer: [],", nil, nil, "invalid-argument", "prefer: the list of ids is empty"},
		{"prefer: 'cpu',", nil, nil, "invalid-argument", `prefer: expected a list of ids, not the string "cpu"`},
		{"prefer: ['cpu', 7],", nil, nil, "invalid-argument", "prefer: expected a list of ids, not 7"},
		{"device: 7,", nil, nil, "invalid-argument", "device: expected a device's id, not 7"},
		{"devices: ['cpu', , 'flaky'],", nil, nil, "invalid-argument", "devices: expected a list of ids, not undefined"},
		{"devices: ['cpu', 'cpu'],", nil, nil, "invalid-argument", `devices: "cpu" is named twice`},
		{"prefer: [''],", nil, nil, "invalid-argument", "prefer: an id is empty"},
		{"device: 'cpu:0', prefer: ['cpu'],", nil, nil, "invalid-argument", "device and prefer are both set"},
		{"", []string{"cpu"}, []string{"cpu"}, "invalid-argument", "both Prefer and Devices are set"},
		{"", []string{"cpu", "cpu"}, nil, "invalid-argument", `Prefer: "cpu" is named twice`},
		{"", nil, []string{""}, "invalid-argument", "Devices: an id is empty"},
		{"", nil, []string{"absent"}, "not-found", "absent is not available: there is no driver"},
	} {
		_, err := rt.LoadPipeline(t.Context(), write(t, "p.js", wishing(c.wish)), gated(func(string) {}, orepl.PipelineOptions{Prefer: c.prefer, Devices: c.devices}))
		if diag.Code(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v %v: %v, want %s", c.wish, c.prefer, c.devices, err, c.want)
		}
	}
	loss.Lose()
	_, err := rt.LoadPipeline(t.Context(), write(t, "p.js", wishing("prefer: ['flaky'],")), gated(func(string) {}, orepl.PipelineOptions{}))
	if diag.Code(err) != "not-found" || !strings.Contains(err.Error(), "flaky:0 is not available: it is lost") {
		t.Error(err)
	}
	if all := spans(); all[len(all)-1].Err == nil || all[len(all)-1].Device != "" {
		t.Errorf("the hook received %+v", all[len(all)-1])
	}
	opts := gated(func(string) {}, orepl.PipelineOptions{Prefer: []string{"cpu"}})
	opts.Engine.Policy.Device = func(id string) error {
		if id == "cpu:0" {
			return errors.New("no")
		}
		return nil
	}
	p := load(t, rt, wishing(""), opts)
	if got := p.Choices()[0].String(); got != "cpu:1: the first available one of cpu, which the program lists; cpu:0: not available: it is denied: no" {
		t.Error(got)
	}
}

// TestSpread holds as many runs as there are instances at a time: each device has its share. A run then takes the idle device.
func TestSpread(t *testing.T) {
	rt, _, _ := placed(t)
	visits, leave := make(chan string), make(chan bool)
	p := load(t, rt, wishing("devices: ['cpu', 'flaky'],"), gated(func(id string) { visits <- id; <-leave }, orepl.PipelineOptions{Instances: 6}))
	var runs sync.WaitGroup
	begin := func() string {
		runs.Go(func() {
			var y []float32
			if err := p.Run(context.Background(), orepl.Data{"x": []float32{1, 2}}, orepl.Data{"y": &y}); err != nil || y[1] != 4 {
				t.Errorf("%v, %v", y, err)
			}
		})
		return <-visits
	}
	counts := map[string]int{}
	for range 6 {
		counts[begin()]++
	}
	if fmt.Sprint(counts) != "map[cpu:0:2 cpu:1:2 flaky:0:2]" {
		t.Errorf("six runs at a time: %v", counts)
	}
	list := p.Choices()
	if len(list) != 3 || list[0].Instances != 2 || list[2].Instances != 2 {
		t.Errorf("%+v", list)
	}
	for range 6 {
		leave <- true
	}
	runs.Wait()
	for range 3 { // all instances are idle: each round of three uses each device once
		counts := map[string]int{}
		for range 3 {
			counts[begin()]++
		}
		for range 3 {
			leave <- true
		}
		runs.Wait()
		if len(counts) != 3 {
			t.Errorf("three runs at a time: %v", counts)
		}
	}
	if n := p.Stats().Instances; n != 6 {
		t.Errorf("%d instances", n)
	}
}

// TestSpreadByDefault checks that the default number of instances uses each device.
func TestSpreadByDefault(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{Cores: 9, Devices: 9})}})
	t.Cleanup(func() { _ = rt.Close() })
	visits, leave := make(chan string), make(chan bool)
	p := load(t, rt, wishing(""), gated(func(id string) { visits <- id; <-leave }, orepl.PipelineOptions{Devices: []string{"cpu"}}))
	var runs sync.WaitGroup
	seen := map[string]bool{}
	for range 9 {
		runs.Go(func() {
			if err := p.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for range 9 {
		seen[<-visits] = true
	}
	close(leave)
	runs.Wait()
	if len(seen) != 9 {
		t.Errorf("nine runs used %v", seen)
	}
}

// TestLostDevice loses the preferred device: only runs that are on it fail, and later ones use the next device of the list.
func TestLostDevice(t *testing.T) {
	for _, wish := range []string{"prefer: ['flaky', 'cpu:1'],", "devices: ['flaky', 'cpu:1'],"} {
		rt, loss, _ := placed(t)
		p := load(t, rt, wishing(wish), gated(func(string) {}, orepl.PipelineOptions{Instances: 2}))
		run := func() error {
			var y []float32
			err := p.Run(context.Background(), orepl.Data{"x": []float32{4}}, orepl.Data{"y": &y})
			if err == nil && y[0] != 8 {
				err = fmt.Errorf("got %v", y)
			}
			return err
		}
		if err := run(); err != nil || p.Device() != "flaky:0" {
			t.Fatalf("%s: %v on %s", wish, err, p.Device())
		}
		loss.Lose()
		for range 3 {
			if err := run(); err != nil {
				t.Errorf("%s after the loss: %v", wish, err)
			}
		}
		list := p.Choices()
		if len(list) != 1 || list[0].Device != "cpu:1" || !strings.Contains(list[0].String(), "flaky:0: not available: it is lost") {
			t.Errorf("%s: %+v", wish, list)
		}
	}
}
