package offloadjs_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	contract "github.com/orepl/orepl/runtime/offload"
)

func newRuntime(t testing.TB) *orepl.Runtime {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpuPlugin(t)}})
	t.Cleanup(func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// TestEverythingIsDocumented checks that each exported name and each member of a class has an entry, and that each entry
// exists.
func TestEverythingIsDocumented(t *testing.T) {
	rt := newRuntime(t)
	e, err := inside.Of(rt).NewEngine(lang.Options{Args: []string{"orepl"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, m := range inside.Of(rt).Registry().Modules() {
		if !m.Importable() {
			continue
		}
		err := e.Do(context.Background(), func(*goja.Runtime) error {
			for _, problem := range bindings.Check(e, &m) {
				t.Error(problem)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocumentedExamplesRun checks that each example runs and, except for a few, prints something.
func TestDocumentedExamplesRun(t *testing.T) {
	rt := newRuntime(t)
	for _, name := range []string{"offload", "kernel-language", "help", "bench", "kernels", "plot"} {
		m, ok := inside.Of(rt).Registry().Module(name)
		if !ok {
			t.Fatalf("no module %s", name)
		}
		for _, entry := range m.Entries() {
			if entry.Example == "" {
				continue
			}
			var out bytes.Buffer
			e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Run(context.Background(), "example.js", entry.Example); err != nil {
				t.Errorf("%s.%s: %s", name, entry.Name, diag.Format(err, false))
			}
			if out.Len() == 0 {
				t.Errorf("the example of %s.%s prints nothing", name, entry.Name)
			}
			_ = e.Close()
		}
	}
}

// TestOptionsAreDocumented checks that functions accept the options of their documented types, and that the error for
// another option lists them.
func TestOptionsAreDocumented(t *testing.T) {
	rt := newRuntime(t)
	m, _ := inside.Of(rt).Registry().Module("offload")
	for _, c := range []struct{ interfaceName, call string }{
		{"BufferOptions", "dev.buffer(f32, 1, bad)"},
		{"ViewOptions", "buf.view(0, 1, bad)"},
		{"LabelOption", "dev.queue.record(bad)"},
		{"RegisterOptions", "register('x', bad)"},
		{"PlaceOptions", "buf.readSync(0, 1, bad)"},
		{"ReadOptions", "await buf.read(0, 1, bad)"},
		{"QueueOption", "buf.fill(0, bad)"},
		{"QueueOptions", "dev.createQueue(bad)"},
		{"ReadRectOptions", "buf.readRect(bad)"},
		{"RectOptions", "buf.writeRect([0], bad)"},
		{"KernelOptions", "kernel(g => {}, bad)"},
		{"LaunchOptions", "kernel(g => {}).launch(bad)"},
		{"DebugOptions", "kernel(g => {}).debug(bad)"},
	} {
		e, err := inside.Of(rt).NewEngine(lang.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Run(context.Background(), "options.js",
			"import { device, kernel, register, f32 } from 'offload'\nconst bad = { nonsense: 1 }, dev = device('cpu'), buf = dev.buffer(f32, 1)\n"+c.call)
		_, list, ok := strings.Cut(diag.Hint(err), "the options are ")
		if !ok {
			t.Errorf("%s: %v", c.call, err)
			continue
		}
		accepted := strings.Split(list, ", ")
		slices.Sort(accepted)
		if documented := fieldsOf(t, m.Types, c.interfaceName); !slices.Equal(accepted, documented) {
			t.Errorf("%s accepts %v, but %s has %v", c.call, accepted, c.interfaceName, documented)
		}
		_ = e.Close()
	}
}

func fieldsOf(t *testing.T, types, name string) []string {
	t.Helper()
	declared := regexp.MustCompile(`interface ` + name + `(?: extends (\w+))? \{([^}]*)\n\}`).FindStringSubmatch(types)
	if declared == nil {
		t.Fatalf("no interface %s", name)
	}
	var fields []string
	if declared[1] != "" {
		fields = fieldsOf(t, types, declared[1])
	}
	body := declared[2]
	for _, match := range regexp.MustCompile(`(?m)^  (\w+)\?:`).FindAllStringSubmatch(body, -1) {
		fields = append(fields, match[1])
	}
	slices.Sort(fields)
	return fields
}
