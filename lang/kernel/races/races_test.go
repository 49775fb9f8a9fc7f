package races_test

import (
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/races"
	"github.com/orepl/orepl/tests/allocs"
)

var particle = ir.NewRecord("P", []ir.Field{{Name: "x", Elem: ir.Elem{Scalar: ir.F32}}, {Name: "n", Elem: ir.Elem{Scalar: ir.I32}}})

// compile compiles a kernel with the parameters x and y, f32; k, i32; b, u8; m, f32 with two dimensions; ps, records; and n and
// w, i32.
func compile(t testing.TB, body string) *kernel.Compiled {
	t.Helper()
	text := "(g, x, y, k, b, m, ps, n, w) => {" + body + "}"
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	buffer := func(t ir.Type, rank int) kernel.Arg {
		return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: rank}
	}
	args := []kernel.Arg{buffer(ir.F32, 1), buffer(ir.F32, 1), buffer(ir.I32, 1), buffer(ir.U8, 1), buffer(ir.F32, 2),
		{Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: 1}, {Kind: kernel.Scalar, Type: ir.I32}, {Kind: kernel.Scalar, Type: ir.I32}}
	c, err := f.Compile(args, kernel.Options{Warnings: true})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return c
}

// launch returns a launch of a size with extents of 1000, 64 × 64 for m, n = 100 and w = 64.
func launch(size ...int64) *races.Launch {
	l := &races.Launch{Size: [3]int64{1, 1, 1}, GroupSize: [3]int64{256, 1, 1}, Extents: map[string][]int64{"m": {64, 64}}, Scalars: map[string]uint64{"n": 100, "w": 64}}
	copy(l.Size[:], size)
	if len(size) > 1 {
		l.GroupSize = [3]int64{16, 16, 1}
	}
	for _, name := range []string{"x", "y", "k", "b", "ps"} {
		l.Extents[name] = []int64{1000}
	}
	return l
}

// texts returns the expressions of the warnings, each after its kind.
func texts(c *kernel.Compiled, l *races.Launch) string {
	var out []string
	for _, d := range races.Warnings(c, l) {
		kind := "order"
		for text, k := range map[string]string{"get lost": "update", "stays": "store", "is read is": "read"} {
			if strings.Contains(d.Message, text) {
				kind = k
			}
		}
		out = append(out, kind+" "+d.Excerpt)
	}
	return strings.Join(out, "; ")
}

// racy are kernels with a race in a launch of 1000 items, and its place.
var racy = map[string]string{
	"x[0] += y[g.x]":                     "update x[0]",
	"x[g.x % 4] += y[0]":                 "update x[g.x % 4]",
	"x[g.x >> 3] = g.x":                  "store x[g.x >> 3]",
	"x[g.x & 63]++":                      "update x[g.x & 63]",
	"x[g.x % n] += 1":                    "update x[g.x % n]",
	"k[Math.floor(g.x / 3)] = g.x":       "store k[Math.floor(g.x / 3)]",
	"k[(g.x / 100) | 0] += 2":            "update k[(g.x / 100) | 0]",
	"x[0] = y[g.x]":                      "store x[0]",
	"x[7] = g.x":                         "store x[7]",
	"x[n] = g.x * 0.5":                   "store x[n]",
	"x[0] = x[0] + y[g.x] * 2":           "update x[0]",
	"x[0] = Math.max(x[0], y[g.x])":      "update x[0]",
	"if (y[g.x] > x[0]) x[0] = y[g.x]":   "update x[0]",
	"if (y[g.x] > 0) x[0] += 1":          "update x[0]",
	"if (y[g.x] > 0) k[0] = g.x":         "store k[0]",
	"if (y[g.x] <= 0) return; k[0]++":    "update k[0]",
	"if (g.x < 10) x[0] += 1":            "update x[0]",
	"if (g.x >= 990) x[0] = g.x":         "store x[0]",
	"if (g.x % 2 === 0) x[3] -= 1":       "update x[3]",
	"if (g.x < x.length) x[0] += y[g.x]": "update x[0]",
	"const add = (i, v) => { if (v > 3) return; x[i] += v }; add(g.x % 4, y[g.x])":     "update x[i]",
	"const at = i => i % 5; x[at(g.x)] *= 2":                                           "update x[at(g.x)]",
	"ps[g.x % 8].n += 1":                                                               "update ps[g.x % 8].n",
	"const p = ps[0]; p.x = y[g.x]":                                                    "store p.x",
	"ps[0] = {x: y[g.x], n: g.x}":                                                      "store ps[0]",
	"const r = m[3]; r[g.x % 7] = y[g.x]":                                              "store r[g.x % 7]",
	"m[g.x % 3][0] += 1":                                                               "update m[g.x % 3][0]",
	"m.flat[g.x % 50] = g.x":                                                           "store m.flat[g.x % 50]",
	"for (let i = 0; i < 4; i++) x[i] += y[g.x]":                                       "update x[i]",
	"for (let i = 0; i < n; i++) x[i] += y[g.x]":                                       "update x[i]",
	"for (let i = 0; i < k[g.x]; i++) x[0] += y[i]":                                    "update x[0]",
	"for (let i = 0; i < 4; i++) x[g.x * 3 + i] = g.x":                                 "store x[g.x * 3 + i]",
	"let s = x[0]; for (let i = 0; i < k[g.x]; i++) s += y[i]; x[0] = s":               "update x[0]",
	"let i = k[g.x]; while (i > 0) { x[0] += 1; i >>= 1 }":                             "update x[0]",
	"x[Math.min(g.x, 99)] = g.x":                                                       "store x[Math.min(g.x, 99)]",
	"x[Math.abs(g.x - 500)] = g.x":                                                     "store x[Math.abs(g.x - 500)]",
	"x[g.x % 10 * 7] += 1":                                                             "update x[g.x % 10 * 7]",
	"x[g.group.x] += y[g.x]":                                                           "update x[g.group.x]",
	"x[g.local.x] += y[g.x]":                                                           "update x[g.local.x]",
	"x[g.x] = x[g.x + 1]":                                                              "read x[g.x + 1]",
	"if (g.x > 0) x[g.x] = x[g.x - 1] + 1":                                             "read x[g.x - 1]",
	"x[999 - g.x] = x[g.x]":                                                            "read x[g.x]",
	"x[g.x] = 1; y[g.x] = x[(g.x + 1) % 1000]":                                         "read x[(g.x + 1) % 1000]",
	"k[k[g.x] & 15] += 1; if (k.length < 20) x[g.x] = 1":                               "",
	"k[0] = 0; Atomics.add(k, 0, 1)":                                                   "order k[0]",
	"const t = g.shared(f32, 256); t[g.local.x] = y[g.x]; x[g.x] = t[255 - g.local.x]": "read t[255 - g.local.x]",
	"const t = g.shared(f32, 256); t[0] += y[g.x]; g.barrier(); x[g.x] = t[0]":         "update t[0]",
	"const t = g.shared(i32, 16); t[g.local.x % 16] = g.x; g.barrier(); k[g.x] = t[g.local.x % 16]":                                "store t[g.local.x % 16]",
	"const t = g.shared(f32, 256); for (let i = 0; i < 4; i++) { t[g.local.x] = y[i]; g.barrier(); x[g.x] += t[255 - g.local.x] }": "read t[255 - g.local.x]",
	"const s = g.reduce.add(y[g.x]); if (g.local.x === 0) x[0] += s":                                                               "update x[0]",
	"let v = 0; if (g.x === 0) v = 1; k[0] += v + g.x":                                                                             "update k[0]",
	"g.x > 5 ? k[0] = g.x : k[1] = 2":                                                                                              "store k[0]",
}

// TestRacy checks that each kind of race is reported at its place.
func TestRacy(t *testing.T) {
	for body, want := range racy {
		if got := texts(compile(t, body), launch(1000)); got != want {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
}

// harmless are kernels without a race in a launch of 1000 items.
var harmless = []string{
	"x[g.x] += y[g.x]",
	"x[999 - g.x] += 1",
	"x[g.x] = y[g.x] + y[Math.max(g.x - 1, 0)]",
	"x[0] = 1",
	"x[0] = n * 0.5 + y[3]",
	"let s = 0; for (let i = 0; i < y.length; i++) s += y[i]; x[0] = s",
	"let s = 0; for (let i = 0; i < k[0]; i++) s += y[i]; x[0] = s",
	"if (y[g.x] > 0) k[0] = 1",
	"if (k[0] === 0) k[0] = 1",
	"x[0] = Math.max(x[0], 5)",
	"if (g.x === 0) x[0] += y[0]",
	"if (g.x !== 7) return; x[0] += y[0]",
	"if (g.x === n) x[0] += y[0]",
	"if (g.x === k[3]) x[0] = g.x",
	"if (g.x === k[3]) x[0] += g.x",
	"if (y[g.x] === 5) k[0] = g.x",
	"if (k[g.x] <= n && n < k[g.x + 1]) k[0] = g.x; y[g.x] = 0",
	"Atomics.add(k, 0, 1)",
	"Atomics.add(k, g.x % 4, k[g.x] | 1)",
	"const i = Atomics.add(k, 0, 1); y[i] = g.x",
	"const i = Atomics.add(k, 0, 1); if (i === 999) x[0] = g.x",
	"while (Atomics.compareExchange(k, 0, 0, 1) !== 0); x[0] += y[g.x]; g.fence(); Atomics.store(k, 0, 0)",
	"x[k[g.x]] = y[g.x]",
	"x[k[g.x]] += y[g.x]",
	"if (g.x > 0) x[k[g.x] % 7] = 3",
	"for (let i = g.x; i < x.length; i += g.size.x) x[i] += y[i]",
	"for (let i = g.x * 4; i < g.x * 4 + 4; i++) if (i < x.length) x[i] += 1",
	"for (let i = 0; i < 4; i++) if (g.x * 4 + i < 1000) x[g.x * 4 + i] = i + g.x",
	"ps[g.x].n += 1; ps[g.x].x = y[g.x]",
	"const p = ps[g.x]; if (g.x % 2 === 0) p.x = ps[g.x].n",
	"if (g.x % 2 === 0) x[g.x] = x[g.x + 1]",
	"if (g.x < 500) x[g.x] = x[g.x + 500]",
	"if ((g.x & 1) === n % 2) x[g.x] = (x[Math.max(g.x - 1, 0)] + x[Math.min(g.x + 1, 999)]) / 2",
	"const a = g.private(f32, 4); a[g.x % 4] += 1; x[g.x] = a[0]",
	"const t = g.shared(f32, 256); t[g.local.x] = y[g.x]; g.barrier(); x[g.x] = t[255 - g.local.x]",
	"const t = g.shared(f32, 256); t[g.local.x] = y[g.x]; x[g.x] = t[g.local.x]",
	"const t = g.shared(f32, 1); if (g.local.x === 0) t[0] = y[g.x]; g.barrier(); x[g.x] = t[0]",
	"const t = g.shared(f32, 256); t[g.local.x] = y[g.x]; g.barrier(); for (let s = 128; s > 0; s >>= 1) { if (g.local.x < s) t[g.local.x] += t[g.local.x + s]; g.barrier() } if (g.local.x === 0) x[g.group.x] = t[0]",
	"const t = g.shared(f32, 256); const l = g.local.x; t[l] = y[g.x]; g.barrier(); for (let d = 1; d < 256; d *= 2) { const v = l >= d ? t[l - d] : 0; g.barrier(); t[l] += v; g.barrier() } x[g.x] = t[l]",
	"const t = g.shared(f32, 256); for (let i = 0; i < 4; i++) { t[g.local.x] = y[i]; g.barrier(); x[g.x] += t[255 - g.local.x]; g.barrier() }",
	"const t = g.shared(i32, 16); Atomics.add(t, g.local.x % 16, 1); g.barrier(); if (g.local.x < 16) Atomics.add(k, g.local.x, t[g.local.x])",
	"const s = g.reduce.add(y[g.x]); if (g.local.x === 0) x[g.group.x] = s",
	"const s = g.reduce.add(y[g.x]); x[g.group.x] = s",
	"const s = g.reduce.max(y[g.x]); if (y[g.x] === s) k[g.group.x] = g.x",
	"const t = g.scan.add(k[g.x]); y[t] = g.x",
	"const t = g.scan.add.exclusive(k[g.x] > 0 ? 1 : 0); if (k[g.x] > 0) y[g.group.x * 256 + t] = g.x",
	"if (g.lane === 0) k[g.x] = 1",
	"g.print(g.x); x[g.x] = 0",
	"if (k[0] > 0) return; if (g.x === 3) k[0] = 1; y[g.x] = 1",
}

// TestHarmless checks that kernels without a provable race get no warning.
func TestHarmless(t *testing.T) {
	for _, body := range harmless {
		if got := texts(compile(t, body), launch(1000)); got != "" {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// TestOneItem checks that a launch of one item has no warning.
func TestOneItem(t *testing.T) {
	for body := range racy {
		if got := texts(compile(t, body), launch(1)); got != "" {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// TestSizes checks that the size, the extents and the numbers of a launch decide.
func TestSizes(t *testing.T) {
	for _, test := range []struct {
		body string
		size []int64
		n    uint64
		want string
	}{
		{"x[g.x % n] += 1", []int64{100}, 100, ""},
		{"x[g.x % n] += 1", []int64{101}, 100, "update x[g.x % n]"},
		{"x[g.x % 700] = g.x", []int64{700}, 1, ""},
		{"x[g.x % 700] = g.x", []int64{701}, 1, "store x[g.x % 700]"},
		{"x[g.x * n] = g.x", []int64{10}, 2, ""},
		{"x[g.x * n] = g.x", []int64{10}, 0, "store x[g.x * n]"},
		{"x[g.y * n + g.x] += 1", []int64{30, 30}, 30, ""},
		{"x[g.y * n + g.x] += 1", []int64{30, 30}, 29, "update x[g.y * n + g.x]"},
		{"m[g.y][g.x] += 1", []int64{64, 64}, 0, ""},
		{"x[g.x] += 1", []int64{64, 2}, 0, "update x[g.x]"},
		{"x[g.y] = m[g.y][g.x]", []int64{64, 64}, 0, "store x[g.y]"},
		{"if (g.x === 0) x[g.y] = m[g.y][0]", []int64{64, 64}, 0, ""},
		{"if (g.x === 0) x[0] = m[g.y][0]", []int64{64, 64}, 0, "store x[0]"},
		{"m[g.x][g.y] = m[g.y][g.x]", []int64{64, 64}, 0, "read m[g.y][g.x]"},
		{"m.flat[g.y * 64 + g.x] += 1", []int64{64, 64}, 0, ""},
		{"m.flat[g.y * 60 + g.x] += 1", []int64{64, 64}, 0, "update m.flat[g.y * 60 + g.x]"},
		{"m[g.y][g.x + 1] = 1; m[g.y][g.x] = 2", []int64{60, 60}, 0, "store m[g.y][g.x + 1]"},
		{"x[g.x] = x[g.x + n]", []int64{500}, 500, ""},
		{"x[g.x] = x[g.x + n]", []int64{500}, 499, "read x[g.x + n]"},
		{"k[b[g.x]] += 1", []int64{1000}, 0, ""},
		{"k[b[g.x]] += 1", []int64{4000}, 0, ""},
		{"const i = g.x % 1000; k[b[i]] += 1", []int64{4000}, 0, "update k[b[i]]"},
		{"const i = b[g.x % 1000]; if (i >= 0 && i < k.length) k[i]++", []int64{4000}, 0, "update k[i]"},
		{"if (k[g.x >> 2] > 3) k[b[g.x >> 2] + (g.x & 3) * 999] += 1", []int64{4000}, 0, ""},
		{"const i = g.x % 1000; k[b[i]] = 1", []int64{4000}, 0, ""},
		{"const i = g.x % 1000; k[b[i]] = g.x", []int64{4000}, 0, "store k[b[i]]"},
		{"x[g.z] = 1; x[g.z * 2] = 3", []int64{1, 1, 9}, 0, "store x[g.z]"},
	} {
		l := launch(test.size...)
		l.Scalars["n"] = test.n
		if got := texts(compile(t, test.body), l); got != test.want {
			t.Errorf("%s of %v with n = %d\n got %q\nwant %q", test.body, test.size, test.n, got, test.want)
		}
	}
}

// TestOverlap checks that buffers which share memory are one.
func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		body   string
		offset int64 // of y after x, in bytes
		want   string
	}{
		{"y[g.x] = x[g.x] + 1", 0, ""},
		{"y[g.x] = x[g.x] + 1", 4, "read x[g.x]"},
		{"y[g.x] = x[g.x] + 1", 4000, ""},
		{"y[g.x] = x[(g.x + 1) % 1000]", 0, "read x[(g.x + 1) % 1000]"},
		{"y[g.x] = 1; x[g.x] = 2", 400, "store y[g.x]"},
	} {
		l := launch(1000)
		l.Memory = map[string]races.Location{"x": {Memory: 1, Offset: 64}, "y": {Memory: 1, Offset: 64 + test.offset}}
		if got := texts(compile(t, test.body), l); got != test.want {
			t.Errorf("%s with y %d bytes after x: got %q, want %q", test.body, test.offset, got, test.want)
		}
	}
}

// TestApart checks by its allocations which launches need no search: those whose items store to elements of their own. All others
// are searched, as the warnings of the racy ones show.
func TestApart(t *testing.T) {
	for _, test := range []struct {
		body, want string
		size       []int64
		memory     map[string]races.Location
		search     bool
	}{
		{"y[g.x] = x[Math.max(g.x - 1, 0)] + x[g.x]", "", []int64{1000}, nil, false},
		{"m[g.y][g.x] = x[g.x] + m[g.y][g.x]", "", []int64{64, 64}, nil, false},
		{"if (x[g.x] > 1) { ps[g.x].n = 1 } ps[g.x].x = ps[g.x].x + 1", "", []int64{1000}, nil, false},
		{"y[g.x] = x[g.x + 1]", "", []int64{999}, map[string]races.Location{"x": {Memory: 1}, "y": {Memory: 2}}, false},
		{"y[g.x] = x[g.x + 1]", "read x[g.x + 1]", []int64{999}, map[string]races.Location{"x": {Memory: 1}, "y": {Memory: 1}}, true},
		{"y[g.x] = x[g.x] + g.y", "store y[g.x]", []int64{64, 64}, nil, true},
		{"y[g.y] = x[g.y] + g.x", "store y[g.y]", []int64{64, 64}, nil, true},
		{"y[g.x] = y[g.x + 1]", "read y[g.x + 1]", []int64{999}, nil, true},
		{"y[g.x] = 1; y[0] = x[g.x]", "store y[g.x]; store y[0]", []int64{1000}, nil, true},
	} {
		c, l := compile(t, test.body), launch(test.size...)
		l.Memory = test.memory
		if got := texts(c, l); got != test.want {
			t.Errorf("%s: %q, want %q", test.body, got, test.want)
		}
		if n := allocs.PerRun(10, func() { races.Warnings(c, l) }); (n > 20) != test.search {
			t.Errorf("%s: %v allocations, want a search: %v", test.body, n, test.search)
		}
	}
}

// TestAssumed checks the warnings of kernels that were not launched.
func TestAssumed(t *testing.T) {
	for body, want := range map[string]string{
		"x[0] += y[g.x]":                                      "update x[0]",
		"if (g.x < x.length) x[0] += y[g.x]":                  "update x[0]",
		"if (g.x >= n) return; x[0] += 1":                     "update x[0]",
		"x[0] += 1":                                           "", // may be meant for one item
		"for (let i = 1; i < x.length; i++) x[i] += x[i - 1]": "",
		"x[g.y * w + g.x] += 1":                               "",
		"m[g.y][g.x] += 1":                                    "",
		"m[g.y][0] += m[g.y][g.x]":                            "update m[g.y][0]",
		"x[g.x % w] = g.x":                                    "",
		"x[g.x % 256] = g.x":                                  "store x[g.x % 256]",
		"x[g.z * 16 + g.y * 4 + g.x] = 1":                     "",
	} {
		c := compile(t, body)
		if got := texts(c, races.Assumed(c)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

// TestHints checks that warnings say what to write.
func TestHints(t *testing.T) {
	for body, want := range map[string]string{
		"x[0] += y[g.x]":                "write `Atomics.add(x, 0, …)`, or combine",
		"k[g.x % 4]--":                  "write `Atomics.sub(k, g.x % 4, …)`",
		"k[1] = Math.max(k[1], k[g.x])": "write `Atomics.max(k, 1, …)`",
		"b[0]++":                        "use a buffer of i32 or f32, and `Atomics.add(b, 0, …)`",
		"x[0] *= y[g.x]":                "give each item an element of its own",
		"x[0] = g.x":                    "give each item an element of its own, or let one item store, as in `if (g.x === 0)`",
		"x[g.x] = x[g.x + 1]":           "store to another buffer",
		"const t = g.shared(f32, 256); t[g.local.x] = y[g.x]; x[g.x] = t[255 - g.local.x]": "write `g.barrier()`",
	} {
		list := races.Warnings(compile(t, body), launch(1000))
		if len(list) != 1 || !strings.HasPrefix(list[0].Rewrite, want) {
			t.Errorf("%s: %v", body, list)
		}
	}
}

// TestWork checks that large kernels are analysed in bounded work, and the same way each time.
func TestWork(t *testing.T) {
	body := "let s = 0; for (let a = 0; a < 1000; a++) for (let c = 0; c < 1000; c++) for (let d = 0; d < 1000; d++) s += y[(a + c + d) % 1000]; x[0] += s"
	c := compile(t, body)
	l := launch(math.MaxInt32)
	want := texts(c, l)
	if want != "update x[0]" {
		t.Errorf("got %q", want)
	}
	for range 3 {
		if got := texts(c, l); got != want {
			t.Errorf("got %q, then %q", want, got)
		}
	}
}
