package array_test

import (
	"fmt"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// chain computes an array of x, a row w and a number by join or by zip.
type chain func(r *array.Run, apply func(text string, operands ...array.Operand) array.Array, x, w array.Array) array.Array

// chains are expressions of several functions, of which some occur twice.
var chains = map[string]chain{
	"map": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, _ array.Array) array.Array {
		return apply("v => v * 0.1 + 1", array.In(x))
	},
	"map, map": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, _ array.Array) array.Array {
		return apply("v => v * v", array.In(apply("v => Math.sqrt(v) * 0.3", array.In(x))))
	},
	"product, sum": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, w array.Array) array.Array {
		p := apply("(a, b) => a * b", array.In(x), array.In(w))
		return apply("(a, b, k) => a + b * k", array.In(p), array.In(apply("v => v - 1", array.In(x))), array.Num(0.7))
	},
	"types": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, w array.Array) array.Array {
		i := apply("v => i32(v * 1000)", array.In(x))
		return apply("(i, w) => (i % 7) * w", array.In(i), array.In(w))
	},
	"f64 to i32": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, _ array.Array) array.Array {
		return apply("i => i32(i * 0.1)", array.In(apply("v => i32(f64(v) * 1e6)", array.In(x))))
	},
	"truth": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, w array.Array) array.Array {
		return apply("c => !c", array.In(apply("(a, b) => a > b", array.In(x), array.In(w))))
	},
	"real types": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, w array.Array) array.Array {
		return apply("(a, b) => f64(a) + b", array.In(apply("v => v * 0.1", array.In(x))), array.In(apply("w => w > 0.5", array.In(w))))
	},
	"indices": func(_ *array.Run, apply func(string, ...array.Operand) array.Array, x, _ array.Array) array.Array {
		return apply("(v, i, j) => v + i * j", array.In(apply("v => v * 2", array.In(x))))
	},
}

// TestJoin compares reductions of joined arrays with those of stored ones, bit by bit, along each axis and of all elements.
func TestJoin(t *testing.T) {
	run := open(t)
	check := checked(t)
	bytes := func(a array.Array) string {
		data := make([]byte, a.Size())
		if err := run.Queue.Read(data, a.Buffer, 0); err != nil {
			t.Fatal(err)
		}
		if err := run.Queue.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%v %x", a.Dims(), data)
	}
	reductions := map[string]func(x array.Array, axis int) (array.Array, error){
		"sum":  func(x array.Array, axis int) (array.Array, error) { return run.Sum(x, axis, false) },
		"mean": func(x array.Array, axis int) (array.Array, error) { return run.Mean(x, axis, true) },
		"min":  func(x array.Array, axis int) (array.Array, error) { return run.Min(x, axis, false) },
		"any":  func(x array.Array, axis int) (array.Array, error) { return run.Any(x, axis, false) },
		"norm": func(x array.Array, axis int) (array.Array, error) { return run.Norm(x, axis, false) },
		"reduce": func(x array.Array, axis int) (array.Array, error) {
			return run.Reduce(array.Text("(a, b) => a && b"), x, axis, false)
		},
	}
	for _, rows := range []int{1, 300} {
		x, w := check(run.Random(ir.F32, []int{rows, 70}, 1, 0, 1)), check(run.Random(ir.F32, []int{70}, 2, 0, 1))
		for name, c := range chains {
			joined := c(run, func(text string, o ...array.Operand) array.Array {
				return check(run.Join("zip", array.Text(text), o...))
			}, x, w)
			stored := c(run, func(text string, o ...array.Operand) array.Array {
				return check(run.Zip("zip", array.Text(text), ir.Void, o...))
			}, x, w)
			if joined.Joined() == (name == "indices" || name == "real types") || stored.Joined() {
				t.Fatalf("%s: joined is %v, stored is %v", name, joined.Joined(), stored.Joined())
			}
			if got, want := bytes(check(run.Store(joined))), bytes(stored); got != want {
				t.Errorf("%s of %d rows: Store gives %.80s, want %.80s", name, rows, got, want)
			}
			for op, reduce := range reductions {
				for _, axis := range []int{array.All, 0, 1} {
					if got, want := bytes(check(reduce(joined, axis))), bytes(check(reduce(stored, axis))); got != want {
						t.Errorf("%s of %s of %d rows along %d is %.80s, want %.80s", op, name, rows, axis, got, want)
					}
				}
			}
		}
	}
	if _, err := run.Sorted(check(run.Join("map", array.Text("v => v"), array.In(check(run.Random(ir.F32, []int{3}, 1, 0, 1))))), 0, false); err == nil {
		t.Error("a joined array was sorted without its memory")
	}
}
