//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/conform"
)

// long reports whether to run the full counts, as ./tests/run --long does.
var long = os.Getenv("OREPL_TEST_LONG") == "1"

// TestConformance runs the suite on the stand-in driver, which runs kernels in the PTX interpreter. On a driver without pools and
// managed memory it runs the cases of memory alone, unless the run is long.
func TestConformance(t *testing.T) {
	for name, set := range map[string]map[string]int32{"pools": {}, "old": {"pools": 0, "managed": 0}} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t)
			for what, n := range set {
				s.set(what, n)
			}
			match := func(name string) bool {
				area, _, _ := strings.Cut(name, "/")
				return (name != "copy/256-mib" || !testing.Short()) &&
					(len(set) == 0 || long || slices.Contains([]string{"contract", "memory", "copy", "leaks"}, area))
			}
			results, err := conform.Run(t.Context(), cuda.New(s.options()), "cuda:0", conform.Options{Match: match, Report: func(r conform.Result) {
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
			s.checkLive(t)
		})
	}
}
