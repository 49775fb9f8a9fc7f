package array_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestPackedProducts compares products by packed panels with those of parts of the right matrix, which are too small to be packed.
func TestPackedProducts(t *testing.T) {
	run := open(t)
	check := checked(t)
	data := func(a array.Array) []byte {
		list := make([]byte, a.Size())
		if err := run.Queue.Read(list, a.Buffer, 0); err != nil {
			t.Fatal(err)
		}
		if err := run.Queue.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, c := range []struct {
		t       ir.Type
		planes  int
		m, k, n int
	}{{ir.F32, 1, 70, 1000, 300}, {ir.F64, 1, 64, 500, 1024}, {ir.F32, 3, 77, 700, 513}, {ir.I32, 1, 80, 2100, 128}, {ir.F16, 2, 65, 1100, 260}, {ir.U64, 1, 99, 400, 401}} {
		t.Run(fmt.Sprintf("%s %d %d %d %d", c.t, c.planes, c.m, c.k, c.n), func(t *testing.T) {
			a := check(run.Random(c.t, []int{c.planes, c.m, c.k}, 1, 0, 100))
			b := check(run.Random(c.t, []int{c.k, c.n}, 2, 0, 100))
			launches := 0
			run.Watch = func(array.Launched) { launches++ }
			got := check(run.MatMul(a, b))
			run.Watch = nil
			want := 1 + c.planes
			if c.n%64 > 0 { // the last panel
				want += c.planes
			}
			if launches != want && launches != want+1 { // and the rows behind the tiles
				t.Errorf("%d launches for %d matrices: the right one is not packed", launches, c.planes)
			}
			for from := 0; from < c.n; from += 30 {
				to := min(from+30, c.n)
				part := check(run.Slice(b, array.Ranges{{From: 0, To: c.k, Step: 1}, {From: from, To: to, Step: 1}}))
				want := check(run.MatMul(a, part))
				of := check(run.Slice(got, array.Ranges{{From: 0, To: c.planes, Step: 1}, {From: 0, To: c.m, Step: 1}, {From: from, To: to, Step: 1}}))
				if !bytes.Equal(data(of), data(want)) {
					t.Fatalf("columns %d to %d differ", from, to)
				}
			}
		})
	}
}
