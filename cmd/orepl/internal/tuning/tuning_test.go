package tuning

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/recording"
	"github.com/orepl/orepl/tests/archive"
)

const script = `
import { device, kernel, f32 } from 'offload'
const d = device('cpu'), x = d.buffer(f32, 4096, i => i), y = d.buffer(f32, [64, 32]), z = d.buffer(f32, 128)
const twice = kernel((g, x, a) => { x[g.x] = a * x[g.x] })
const fill = kernel((g, y) => { y[g.y][g.x] = g.x - g.y })
const groups = kernel((g, z) => { z[g.x] = g.local.x })
for (let i = 0; i < 3; i++) twice.launch({ size: 4096, groupSize: 64 }, x, 2)
fill.launch({ size: [32, 64] }, y)
twice.launch({ size: 100 }, x, 2)
groups.launch({ size: 128, groupSize: 32 }, z)
globalThis.kept = [x, y, z]`

func open(t *testing.T) *orepl.Runtime {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

func record(t *testing.T) []byte {
	t.Helper()
	rt := open(t)
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := recording.Begin(t.Context(), rt.Session(), 0)
	if err == nil {
		_, err = e.Run(t.Context(), "record.js", script)
	}
	var out bytes.Buffer
	if err == nil {
		_, err = r.Finish(t.Context(), &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tune(t *testing.T, data []byte) (*Result, error) {
	t.Helper()
	f, err := recording.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(t.Context(), open(t).Session(), recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	return Run(t.Context(), r)
}

// TestRun expects the launches whose results do not depend on the group size, equal ones joined, with their buffers compared.
func TestRun(t *testing.T) {
	r, err := tune(t, record(t))
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		kernel string
		size   [2]int
		count  int
	}
	var got []key
	for _, l := range r.Launches {
		k := key{kernel: l.Kernel, count: l.Launches}
		copy(k.size[:], l.Size)
		got = append(got, k)
		if !(l.Before > 0 && l.After > 0) || l.Tuned && l.Against == nil || !l.Tuned && !same(l.GroupSize, l.Recorded) || len(l.Refused) > 0 {
			t.Errorf("%+v", l)
		}
	}
	if want := []key{{"x", [2]int{4096}, 1}, {"twice", [2]int{4096}, 3}, {"fill", [2]int{32, 64}, 1}, {"twice", [2]int{100}, 1}}; !slices.Equal(got, want) {
		t.Errorf("tuned %v, not %v", got, want)
	}
	if r.Checked != 3 {
		t.Errorf("%d buffers were compared", r.Checked)
	}
}

// TestDiffers changes an argument of a recording and expects that nothing is tuned.
func TestDiffers(t *testing.T) {
	data := record(t)
	changed := archive.Edit(t, data, func(_ string, text []byte) []byte {
		return bytes.Replace(text, []byte(`"bits": "40000000"`), []byte(`"bits": "40400000"`), 1)
	})
	_, err := tune(t, changed)
	var differs *Differs
	if !errors.As(err, &differs) || len(differs.List) != 1 || differs.List[0].Label != "x" {
		t.Errorf("got %v", err)
	}
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		size     []int
		most     int
		recorded []int
		want     [][]int
	}{
		{[]int{100}, 1024, nil, [][]int{nil, {16}, {32}, {64}, {128}}},
		{[]int{1 << 20}, 64, []int{64}, [][]int{{64}, nil, {16}, {32}}},
		{[]int{9, 5}, 0, nil, [][]int{nil, {8, 8}}},
		{[]int{3}, 0, nil, [][]int{nil}},
	} {
		if got := Candidates(c.size, c.most, c.recorded); !slices.EqualFunc(got, c.want, same) {
			t.Errorf("%v, %d, %v: got %v, want %v", c.size, c.most, c.recorded, got, c.want)
		}
	}
}
