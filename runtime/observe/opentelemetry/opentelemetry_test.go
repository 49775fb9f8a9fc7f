package opentelemetry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/observe/opentelemetry"
	"github.com/orepl/orepl/runtime/offload"
)

const script = `import { pipeline, kernel, f32 } from 'offload'
const take = kernel((g, at, x, y) => { y[g.x] = x[g.x + at] })
export default pipeline({
  device: 'cpu', inputs: { x: [f32], at: f32 }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ x, at, y }) { take.launch({ size: x.length }, at, x, y) },
})`

// TestNew runs a pipeline with the SDK's exporter for tests: a good run and one whose kernel faults, both below a span of the
// program.
func TestNew(t *testing.T) {
	for commands, wantKinds := range map[bool]string{false: "[failure instance load request run]", true: "[copy failure instance kernel load request run]"} {
		exporter := tracetest.NewInMemoryExporter()
		provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Observe: opentelemetry.New(provider, opentelemetry.Options{Commands: commands})})
		p, err := rt.LoadPipeline(t.Context(), "take.js", orepl.PipelineOptions{Engine: orepl.EngineOptions{Name: "acme", Files: orepl.Texts{"take.js": script}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, request := provider.Tracer("test").Start(t.Context(), "request")
		var y []float32
		var failed *offload.Error
		for at := range 2 {
			err := p.Run(ctx, orepl.Data{"x": []float32{1, 2}, "at": at}, orepl.Data{"y": &y})
			if errors.As(err, &failed) != (at == 1) {
				t.Errorf("at %d: %v", at, err)
			}
		}
		request.End()
		if err := errors.Join(p.Close(), rt.Shutdown(context.Background()), provider.ForceFlush(context.Background())); err != nil {
			t.Error(err)
		}
		var runs, kinds []string
		for _, s := range exporter.GetSpans() {
			kind, name, _ := strings.Cut(s.Name, " ")
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			if kind == "instance" && !slices.ContainsFunc(s.Attributes, func(a attribute.KeyValue) bool { return a.Key == "orepl.detail" && a.Value.AsString() != "" }) {
				t.Errorf("the span %s does not say why its device was chosen: %v", s.Name, s.Attributes)
			}
			if kind == "run" {
				runs = append(runs, fmt.Sprint(name, " ", s.Attributes, " ", s.Status.Code))
				if s.Parent.SpanID() != request.SpanContext().SpanID() || s.EndTime.Before(s.StartTime) {
					t.Errorf("%+v", s)
				}
			}
		}
		slices.Sort(kinds)
		want := `[take.js [{"orepl.device":"cpu"} {"orepl.owner":"acme"}] Unset take.js [{"orepl.device":"cpu"} {"orepl.owner":"acme"} {"error.type":"out-of-bounds"}] Error]`
		if fmt.Sprint(runs) != want || fmt.Sprint(kinds) != wantKinds {
			t.Errorf("commands %v: runs %v, kinds %v; want\n%s, %s", commands, runs, kinds, want, wantKinds)
		}
	}
}
