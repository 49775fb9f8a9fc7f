package spmd

import (
	"cmp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// every is a cost table that enables all kinds of stores.
var every = &uarch.Model{Name: "every", Divide: 10, Root: 12, PastCache: 0.75, HalfLines: true, FetchAhead: true, SplitGathers: true}

func TestPrefetchOfLoops(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"steps of 1 KiB", `(g, x, y) => { let s = 0; for (let k = 0; k < 100; k++) s += x[0][g.x + 256 * k]; y[0][g.x] = s }`, true},
		{"steps of 1 KiB downwards", `(g, x, y) => { let s = 0; for (let k = 99; k >= 0; k--) s += x[0][g.x + (k << 8)]; y[0][g.x] = s }`, true},
		{"steps of one element", `(g, x, y) => { let s = 0; for (let k = 0; k < 100; k++) s += x[0][g.x + k]; y[0][g.x] = s }`, false},
		{"no steps", `(g, x, y) => { let s = 0; for (let k = 0; k < 100; k++) s = s * 0.5 + x[0][g.x]; y[0][g.x] = s }`, false},
		{"rows that much is done with", `(g, x, y) => {
  let s = 0, t = 1, u = 2, v = 3
  for (let k = 0; k < 100; k++) { const e = x[k][g.x]; s += e * e; t = t * e + s; u = u * e + t; v = v * e + u }
  y[0][g.x] = s + t + u + v
}`, true},
		{"every other row, downwards", `(g, x, y) => {
  let s = 0, t = 1, u = 2, v = 3
  for (let k = 99; k >= 0; k -= 2) { const e = x[k][g.x]; s += e * e; t = t * e + s; u = u * e + t; v = v * e + u }
  y[0][g.x] = s + t + u + v
}`, true},
		{"rows that little is done with by each item", `(g, x, y) => { let s = 0; for (let k = 0; k < x.length; k++) s += x[k][g.x]; y[0][g.x] = s }`, false},
		{"unknown steps", `(g, x, y) => { let s = 0; for (let k = 1; k < 1000; k = k * 3) s += x[0][g.x + 256 * k]; y[0][g.x] = s }`, false},
	} {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, ir.F32)}}).Clone()
		opt.Run(m, opt.Default, nil)
		gang := 1
		if strings.Contains(c.name, "by each item") {
			gang = 4
		}
		text := listed(t, m.Kernels[0], plan.Options{Features: vcode.AVX512.Features, Gang: gang})
		if got := strings.Contains(text, "prefetch"); got != c.want {
			t.Errorf("%s: prefetches %v, want %v", c.name, got, c.want)
		}
	}
}

// TestStoreKinds checks on both targets that launches with large outputs prefetch.
func TestStoreKinds(t *testing.T) {
	for _, target := range allTargets {
		p, err := Compile(rank2(t, `(g, x, y) => { y[g.y][g.x] = x[g.y][g.x] }`, ir.F32), plan.Options{Features: target.Features, CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for bytes, want := range map[int]plan.Stores{1 << 16: plan.PlainStores, 1 << 17: plan.HalfLineStores} {
			g := interp.Launch{Size: [3]int{bytes / 4, 1, 1}, Args: []interp.Arg{{Bytes: bytes}, {Bytes: bytes}}}
			if got := p.stores(&g); got != want {
				t.Errorf("%s stores %d bytes in way %d, want %d", target.Name, bytes, got, want)
			}
			s := p.Listed()
			s.Stores = want
			text, err := p.List(s, func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(text, "prefetch"); got != (want != plan.PlainStores) {
				t.Errorf("%s, %d bytes: prefetches %v", target.Name, bytes, got)
			}
		}
	}
}

// TestStoresOfZen checks that launches with large outputs neither store half lines nor prefetch rows if the cost table
// disables both.
func TestStoresOfZen(t *testing.T) {
	for _, target := range allTargets {
		p, err := Compile(rank2(t, `(g, x, y) => { y[g.y][g.x] = x[g.y][g.x] }`, ir.F32), plan.Options{Features: target.Features, Model: uarch.Named("zen5")})
		if err != nil {
			t.Fatal(err)
		}
		s := p.Listed()
		s.Stores = plan.HalfLineStores
		text, err := p.List(s, func(int) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "prefetch") || strings.Contains(text, "vextracti64x4") {
			t.Errorf("%s: fetches ahead or stores halves in\n%s", target.Name, text)
		}
	}
}

func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		name, text        string
		written, streamed bool // expected for y
	}{
		{"written once", `(g, x, y) => { y[g.y][g.x] = x[g.y][g.x] }`, true, true},
		{"read, too", `(g, x, y) => { y[g.y][g.x] += x[g.y][g.x] }`, true, false},
		{"written in a loop", `(g, x, y) => { for (let k = 0; k < x[0][0]; k++) y[g.y][g.x] = x[g.y][g.x] }`, true, false},
		{"only read", `(g, x, y) => { x[g.y][g.x] = y[g.y][g.x] }`, false, false},
	} {
		k := rank2(t, c.text, ir.F32)
		o := plan.FindOutputs(k)
		y := k.Params[1].Array.ID
		if o.Written[y] != c.written || o.Streamed[y] != c.streamed {
			t.Errorf("%s: written %v, streamed %v", c.name, o.Written[y], o.Streamed[y])
		}
		if x := k.Params[0].Array.ID; o.Written[x] == c.written || o.Streamed[x] == c.written {
			t.Errorf("%s: x is written %v, streamed %v", c.name, o.Written[x], o.Streamed[x])
		}
	}
}

// TestStoreKind checks the kind of stores for outputs smaller and larger than the caches.
func TestStoreKind(t *testing.T) {
	const cache, copies = 1 << 20, `(g, x, y) => { y[g.y][g.x] = x[g.y][g.x] }`
	for _, c := range []struct {
		name, text string
		size       [3]int
		elems      int // elements of y
		target     *vcode.Target
		model      *uarch.Model
		cache      int
		cores      int
		want       plan.Stores
	}{
		{"little", copies, [3]int{32, 32, 31}, 1 << 20, &vcode.AVX512, every, cache, 0, 0},
		{"an eighth", copies, [3]int{32, 32, 32}, 1 << 20, &vcode.AVX512, every, cache, 0, plan.HalfLineStores},
		{"an eighth, AVX2", copies, [3]int{32, 32, 32}, 1 << 20, &vcode.AVX2, every, cache, 0, plan.HalfLineStores},
		{"an eighth, Zen", copies, [3]int{32, 32, 32}, 1 << 20, &vcode.AVX2, uarch.Named("zen3"), cache, 0, plan.HalfLineStores},
		{"less than the cache with what is read", copies, [3]int{64, 1023, 1}, 1 << 20, &vcode.AVX512, every, cache, 0, plan.HalfLineStores},
		{"as much as the cache with what is read", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX512, every, cache, 0, plan.NonTemporalStores},
		{"as much, AVX2", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX2, every, cache, 0, plan.NonTemporalStores},
		{"less, Zen", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX2, uarch.Named("zen3"), cache, 0, plan.HalfLineStores},
		{"more than the cache, Zen", copies, [3]int{256, 1024, 1}, 1 << 20, &vcode.AVX2, uarch.Named("zen3"), cache, 0, plan.NonTemporalStores},
		{"as much, one core of Zen 5", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX2, uarch.Named("zen5"), cache, 1, plan.NonTemporalStores},
		{"as much, two cores of Zen 5", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX2, uarch.Named("zen5"), cache, 2, plan.HalfLineStores},
		{"as much, a Xeon", copies, [3]int{64, 1024, 1}, 1 << 20, &vcode.AVX512, uarch.Named("icelake"), cache, 0, plan.HalfLineStores},
		{"as much that is read", `(g, x, y) => { y[g.y][g.x] += x[g.y][g.x] }`, [3]int{128, 1024, 1}, 1 << 20, &vcode.AVX512, every, cache, 0, plan.HalfLineStores},
		{"more items than elements", copies, [3]int{1024, 1024, 1}, 1000, &vcode.AVX512, every, cache, 0, 0},
		{"an eighth, several places each", `(g, x, y) => { for (let k = 0; k < 4; k++) y[g.y + k][g.x] = 1 }`, [3]int{32, 32, 8}, 1 << 15, &vcode.AVX512, every, cache, 0, plan.HalfLineStores},
		{"an eighth, the same place again", `(g, x, y) => { for (let k = 0; k < 4; k++) y[g.y][g.x] = k }`, [3]int{32, 32, 8}, 1 << 15, &vcode.AVX512, every, cache, 0, 0},
		{"nothing", `(g, x, y) => { if (x[g.y][g.x] > y[g.y][g.x]) return }`, [3]int{1024, 1024, 1}, 1 << 20, &vcode.AVX512, every, cache, 0, 0},
		{"an unknown cache, less", copies, [3]int{1024, 1023, 1}, 1 << 24, &vcode.AVX512, every, 0, 0, 0},
		{"an unknown cache, an eighth", copies, [3]int{1024, 1024, 1}, 1 << 24, &vcode.AVX512, every, 0, 0, plan.HalfLineStores},
		{"an unknown cache, as much", copies, [3]int{2048, 1024, 1}, 1 << 24, &vcode.AVX512, every, 0, 0, plan.NonTemporalStores},
	} {
		k := rank2(t, c.text, ir.F32)
		p := &Program{kernel: k, outputs: plan.FindOutputs(k), options: plan.Options{Target: c.target, Model: c.model, CacheBytes: c.cache, Cores: c.cores}}
		most := cmp.Or(c.cache, defaultCache)
		if got := p.stores(&interp.Launch{Size: c.size, Args: []interp.Arg{{Bytes: most / 2}, {Bytes: 4 * c.elems}}}); got != c.want {
			t.Errorf("%s: kind %d, want %d", c.name, got, c.want)
		}
	}
}

// TestPrefetchOfGroups checks that a one-gang group prefetches the row of a later group.
func TestPrefetchOfGroups(t *testing.T) {
	sums := rank1(t, "(g, x, out) => { const all = g.reduce.add(x[g.x]); if (g.local.x === 0) out[g.group.x] = all }", ir.F32, ir.F32)
	for _, c := range []struct {
		target *vcode.Target
		model  string
		want   int
	}{
		{&vcode.AVX2, "zen5", 256 * 4 / plan.LineBytes},
		{&vcode.AVX2, "skylake", 0},
		{&vcode.AVX512, "zen5", 256 * 4 / plan.LineBytes},
	} {
		p, err := Compile(sums, plan.Options{Features: c.target.Features, Model: uarch.Named(c.model)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.List(oneGang(t, p, 256), func(int) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(text, "prefetcht0"); got != c.want {
			t.Errorf("%s, %s: %d lines are fetched, want %d\n%s", c.target.Name, c.model, got, c.want, text)
		}
	}
}
