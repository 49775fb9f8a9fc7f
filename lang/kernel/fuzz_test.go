package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// FuzzCompile compiles arbitrary text, which must not panic. Compile verifies its results.
func FuzzCompile(f *testing.F) {
	for _, dir := range []string{"ir", "run", "diag"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*.js")
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, text := range strings.Split(string(data), "\n---\n") {
				f.Add(text)
			}
		}
	}
	kinds := []Arg{floats, ints, {Kind: Number}, {Kind: Buffer, Elem: ir.Elem{Record: particle}, Rank: 1}, {Kind: BigInt},
		{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F64}, Rank: 2}, {Kind: Bool}}
	f.Fuzz(func(t *testing.T, text string) {
		fn, err := Parse(&Source{Text: text, Capture: capture(map[string]any{"K": 2.0, "list": []float64{1, 2}, "P": particle})})
		if err != nil {
			_ = err.Error()
			return
		}
		for shift := range 3 {
			args := make([]Arg, len(fn.Params()))
			for i := range args {
				args[i] = kinds[(i+shift)%len(kinds)]
			}
			_, err := fn.Compile(args, Options{Warnings: true})
			if err != nil && strings.Contains(err.Error(), "internal-error") {
				t.Fatal(err)
			}
		}
	})
}
