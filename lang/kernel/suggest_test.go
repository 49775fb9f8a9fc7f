package kernel

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestSuggestions checks that the error for an unknown name suggests a similar one.
func TestSuggestions(t *testing.T) {
	scope := map[string]any{"alpha": 2.0, "cfg": testObject{"radius": 3.0, "steps": 1.0}}
	for text, want := range map[string]string{
		"x[0] = alhpa":                             "did you mean alpha?",
		"const speed = 1; x[0] = sped":             "did you mean speed?",
		"const twice = v => 2 * v; x[0] = twic(3)": "did you mean twice?",
		"x[0] = matrx":                             "did you mean matrix?",
		"x[0] = Maths.PI":                          "did you mean Math?",
		"x[0] = cfg.raduis":                        "did you mean cfg.radius?",
		"x[0] = cfg.w":                             "cfg has radius, steps",
		"x[0] = g.lokal.x":                         "did you mean g.local?",
		"x[0] = g.globalId":                        "write g.x, g.y or g.z",
		"x[0] = g.nothing":                         "g has x, y, z, local, group, size, groupSize, groups, lane, subgroupSize, reduce, scan, subgroup, barrier, shared, private, uniform, print, assert, call, fence, clock",
		"x[0] = g.local.w":                         "write g.local.x, .y or .z",
		"x[0] = g.subgroup.shufle(x[0], 1)":        "did you mean g.subgroup.shuffle?",
		"x[0] = g.reduce(x[0])":                    "write g.reduce.add(…), .min or .max",
		"x[0] = g.local()":                         "write g.local.x, .y or .z",
		"x[0] = g.subgroup(1)":                     "name the operation: g.subgroup has add, all, any, ballot, broadcast, max, min, scanAdd, shuffle, shuffleDown, shuffleUp, shuffleXor",
		"x[0] = Math(2)":                           "name the function: Math.…",
		"Atomics.aad(x, 0, 1)":                     "did you mean Atomics.add?",
		"x[0] = Math.sqrtt(2)":                     "did you mean Math.sqrt?",
		"x[0] = Math.Sin(2)":                       "did you mean Math.sin?",
		"x[0] = Math.pi":                           "did you mean Math.PI?",
		"x[0] = Math.lerp(1, 2, 3)":                "write Math.mix(a, b, t)",
		"x[0] = Math.gamma(1)":                     "write it as a function of your own, which the kernel calls",
		"x[0] = Math.fast.sqr(x[0])":               "did you mean Math.fast.sqrt?",
		"x[0] = Math.fast.log1(x[0])":              "did you mean Math.fast.log?",
		"x[0] = Math.fast.log01(x[0])":             "did you mean Math.fast.log10?",
		"x[0] = Math.fast.floor(x[0])":             "write Math.floor",
		"x[0] = Math.fast.gamma(x[0])":             "write it as a function of your own, which the kernel calls",
		"x[0] = sqrt(x[0])":                        "write Math.sqrt",
		"x[0] = float(3)":                          "write f32",
		"x[get_global_id(0)] = 1":                  "write g.x, g.y or g.z",
		"const t = []; t.push(1)":                  "use g.private(type, n) for an array that changes",
		"x[g] = 1":                                 "write `g.x`, .y or .z",
		"x[0] = g.local + 1":                       "write `g.local.x`, .y or .z",
		"Atomics.add(x, 1)":                        "write Atomics.add(array, index, value)",
		"Atomics.load(x)":                          "write Atomics.load(array, index)",
		"Atomics.compareExchange(x, 1, 2)":         "write Atomics.compareExchange(array, index, value, replacement)",
		"const s = g.shared(f32)":                  "write g.shared(type, length), or give two or three lengths",
		"x[0] = x.lenght":                          "did you mean .length?",
		"x.fill(0)":                                "an array has .length, .shape and .flat; what is done to its elements is written as a loop",
		"x[0] = matrix[g.y, g.x]":                  "write `matrix[g.y][g.x]`",
		"matrix[g.y, g.x] = 1":                     "write `matrix[g.y][g.x] = …`",
		"matrix[g.y] = 1":                          "write `matrix[g.y][i] = …`, or index matrix.flat, or pass a buffer of 1 dimension",
	} {
		src := &Source{Text: "(g, x, matrix) => { " + text + " }",
			Capture: func(name string) (any, error) { return scope[name], nil },
			Names:   func() []string { return []string{"alpha", "cfg"} }}
		f, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_, err = f.Compile([]Arg{{Kind: Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1}, {Kind: Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 2}}, Options{})
		var list diag.List
		if !errors.As(err, &list) {
			t.Errorf("%s: no diagnostic: %v", text, err)
		} else if list.Hint() != want {
			t.Errorf("%s: hint %q, want %q", text, list.Hint(), want)
		}
	}
}

// TestMathNames checks that mathNames lists exactly the existing functions.
func TestMathNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "mathfn.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	have := sortedNames(mathConstants.Get())
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "mathFuncOf" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			clause, ok := n.(*ast.CaseClause)
			if !ok {
				return true
			}
			for _, x := range clause.List {
				name, err := strconv.Unquote(x.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				have = append(have, name)
			}
			return false
		})
	}
	names := slices.Sorted(slices.Values(mathNames.Get()))
	slices.Sort(have)
	if !slices.Equal(names, have) {
		t.Errorf("mathNames is %v, the language has %v", names, have)
	}
}
