package orepltest_test

import (
	"context"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/orepltest"
	"github.com/orepl/orepl/plugins/all"
)

// TestRun runs the tests of a script that imports a module of the program.
func TestRun(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close(context.Background())
	asked := 0
	album := orepl.Module{Name: "album", Help: "Photographs.", Functions: []orepl.Function{
		{Name: "photos", Help: "Lists photographs.", Func: func(name string) []string { asked++; return []string{name + ".png"} }},
	}}
	orepltest.Run(t, rt, "testdata/*.test.js", orepl.TestOptions{Engine: orepl.EngineOptions{Modules: []orepl.Module{album}}})
	if asked != 1 {
		t.Errorf("the module was called %d times", asked)
	}
}
