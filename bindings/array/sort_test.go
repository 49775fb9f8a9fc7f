package array_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// sortedTypes are element types with the bits of their canonical NaN, if they have one.
var sortedTypes = []struct {
	t   ir.Type
	nan uint64
}{{ir.U16, 0}, {ir.I32, 0}, {ir.U32, 0}, {ir.I64, 0}, {ir.U64, 0}, {ir.F16, 0x7e00}, {ir.BF16, 0x7fc0}, {ir.F32, 0x7fc00000}, {ir.F64, 0x7ff8000000000000}}

// element returns the bits of an element.
func element(data []byte, size, i int) uint64 {
	var b [8]byte
	copy(b[:], data[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(b[:])
}

// compareElements orders elements by their values: −0 before +0, and NaN last in either direction.
func compareElements(t ir.Type, a, b uint64, descending bool) int {
	sign := 1
	if descending {
		sign = -1
	}
	switch x, y := array.ValueBits(t, a), array.ValueBits(t, b); {
	case t == ir.F64:
		return compareFloats(math.Float64frombits(x), math.Float64frombits(y), sign)
	case t.IsFloat():
		return compareFloats(float64(math.Float32frombits(uint32(x))), float64(math.Float32frombits(uint32(y))), sign)
	case t == ir.I32:
		return sign * cmp.Compare(int32(x), int32(y))
	case t == ir.I64:
		return sign * cmp.Compare(int64(x), int64(y))
	default:
		return sign * cmp.Compare(x, y)
	}
}

func compareFloats(a, b float64, sign int) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	case a == b && math.Signbit(a) != math.Signbit(b):
		if math.Signbit(a) {
			return -sign
		}
		return sign
	}
	return sign * cmp.Compare(a, b)
}

// elementsFor returns random elements with equal ones, and for floats zeros, infinities and NaNs of either sign and any bits.
func elementsFor(t ir.Type, nan uint64, n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(t)))
	data := make([]byte, 0, n*t.Size())
	for range n {
		bits := r.Uint64()
		if top := uint64(1) << (8*t.Size() - 1); nan != 0 {
			switch r.IntN(16) {
			case 0:
				bits = bits & top // zeros
			case 1:
				bits |= nan // NaNs
			case 2:
				bits = bits&top | nan&^(nan&-nan) // infinities
			}
		} else if r.IntN(2) == 0 {
			bits &= 0xff
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		data = append(data, b[:t.Size()]...)
	}
	return data
}

// TestSortOrder compares sorts of rows, on both sides of the size from which digits have more bits, with those of Go.
func TestSortOrder(t *testing.T) {
	for _, engine := range []string{"", "cpu-features=avx2", "cpu-engine=interp"} {
		shapes := [][]int{{300}, {1<<17 - 1}, {1<<17 + 3}, {3, 45001}, {2500, 53}}
		if engine != "" || testing.Short() {
			shapes = [][]int{{1<<17 + 3}, {2500, 53}}
		}
		t.Run(engine, func(t *testing.T) {
			run := openOn(t, engine)
			for i, c := range sortedTypes {
				if engine == "cpu-engine=interp" && c.t != ir.F16 && c.t != ir.F32 && c.t != ir.I32 {
					continue // three types show the order; the interpreter needs seconds for each
				}
				for j, dims := range shapes {
					testSort(t, run, c.t, c.nan, dims, (i+j)%2 == 1)
				}
			}
		})
	}
}

// openOn returns a runner on two cores with debug switches.
func openOn(t *testing.T, switches string) *array.Run {
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{Cores: 2, Debug: switches})}})
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	d, err := s.Device(t.Context(), "cpu")
	if err != nil {
		t.Skip(err) // the processor has no such instructions
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	return array.New(s).On(t.Context(), q)
}

func testSort(t *testing.T, run *array.Run, typ ir.Type, nan uint64, dims []int, descending bool) {
	t.Helper()
	check := checked(t)
	n, size := dims[len(dims)-1], typ.Size()
	count := n
	if len(dims) > 1 {
		count *= dims[0]
	}
	data := elementsFor(typ, nan, count, uint64(count))
	x := check(run.FromBytes(typ, dims, data))
	sorted, places := check(run.Sorted(x, -1, descending)), check(run.ArgSort(x, -1, descending))
	got := make([]byte, len(data))
	if err := run.Queue.Read(got, sorted.Buffer, 0); err != nil {
		t.Fatal(err)
	}
	at, err := session.Read[int32](t.Context(), places.Buffer, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	want, wantAt := make([]byte, 0, len(data)), make([]int32, 0, count)
	for row := 0; row < count; row += n {
		order := make([]int32, n)
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(i, j int32) int {
			return compareElements(typ, element(data, size, row+int(i)), element(data, size, row+int(j)), descending)
		})
		for _, i := range order {
			bits := element(data, size, row+int(i))
			if nan != 0 && compareElements(typ, bits, nan, false) == 0 {
				bits = nan
			}
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], bits)
			want = append(want, b[:size]...)
		}
		wantAt = append(wantAt, order...)
	}
	what := fmt.Sprintf("%v of %v, descending %v", typ, dims, descending)
	if !bytes.Equal(got, want) {
		for i := range count {
			if a, b := element(got, size, i), element(want, size, i); a != b {
				t.Errorf("%s: element %d has the bits %#x, want %#x", what, i, a, b)
				break
			}
		}
	}
	if !slices.Equal(at, wantAt) {
		t.Errorf("%s: the indices differ", what)
	}
}
