package apart

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/lang/isolate"
	contract "github.com/orepl/orepl/runtime/offload"
)

// TestReceive refuses results of a child that are outside of the memory, or together larger than the limit.
func TestReceive(t *testing.T) {
	memory, err := isolate.NewMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	shared, err := memory.Bytes(256)
	if err != nil {
		t.Fatal(err)
	}
	for i := range shared {
		shared[i] = byte(i)
	}
	size, err := memory.Size()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pipeline{memory: memory, most: 2 * size}
	for _, c := range []struct {
		name    string
		results []result
		want    string // of the error; "" for none
	}{
		{"two", []result{{[]int{4, 4}, 0, 64}, {[]int{16}, 64, 64}}, ""},
		{"one of two", []result{{[]int{16}, 0, 64}}, "1 outputs instead of 2"},
		{"negative extent", []result{{[]int{-16}, 0, 64}, {[]int{16}, 64, 64}}, "extents [-16]"},
		{"other size", []result{{[]int{16}, 0, 32}, {[]int{16}, 64, 64}}, "at 0 with 32 bytes"},
		{"before the memory", []result{{[]int{16}, -64, 64}, {[]int{16}, 64, 64}}, "at -64"},
		{"behind the memory", []result{{[]int{16}, 0, 64}, {[]int{16}, size, 64}}, "behind the memory"},
		{"overflow", []result{{[]int{1 << 40, 1 << 40}, 0, 0}, {[]int{16}, 64, 64}}, "extents"},
		{"too much together", []result{{[]int{size / 4}, 0, size}, {[]int{size/4 + 64}, 0, size + 256}}, "extents"},
	} {
		stored := make([][]byte, 2)
		out := make([]pipelines.Output, 2)
		for i := range out {
			out[i] = pipelines.Output{Name: "y", Type: contract.F32, Store: func(dims []int) ([]byte, error) {
				n := 4
				for _, extent := range dims {
					n *= extent
				}
				stored[i] = make([]byte, n)
				return stored[i], nil
			}}
		}
		switch err := p.receive(out, c.results); {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case c.want == "" && (err != nil || stored[0][5] != 5 || stored[1][5] != 69):
			t.Errorf("%s: %v, %v", c.name, err, stored)
		}
	}
}
