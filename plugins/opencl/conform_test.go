package opencl_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
)

// available opens the plugin. It skips the test on a machine without an OpenCL device, and fails it in CI.
func available(t testing.TB, o opencl.Options) offload.Plugin {
	t.Helper()
	plugin := opencl.New(o)
	p, err := plugin.Open(t.Context())
	switch {
	case err == nil:
		_ = p.Close()
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return plugin
}

// TestConformance runs the suite. On buffers without memory shared with the host it runs the cases of memory alone, unless the run is
// long.
func TestConformance(t *testing.T) {
	for name, options := range map[string]opencl.Options{"shared": {}, "copied": {Unshared: true}} {
		t.Run(name, func(t *testing.T) { conformance(t, available(t, options), options.Unshared) })
	}
}

func conformance(t *testing.T, plugin offload.Plugin, memory bool) {
	match := func(name string) bool {
		area, _, _ := strings.Cut(name, "/")
		return (name != "copy/256-mib" || !testing.Short()) &&
			(!memory || os.Getenv("OREPL_TEST_LONG") == "1" || slices.Contains([]string{"contract", "memory", "copy", "leaks"}, area))
	}
	results, err := conform.Run(t.Context(), plugin, "opencl:0", conform.Options{Match: match, Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			text := strings.Join(r.Output, "\n")
			switch r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
			t.Log(r.Elapsed)
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Name)
	}
	if want := slices.DeleteFunc(conform.Names(), func(n string) bool { return !match(n) }); !slices.Equal(names, want) {
		t.Errorf("results of %q, and the suite lists %q", names, want)
	}
}
