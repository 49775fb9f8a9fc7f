package advice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

func buffer(t ir.Type, rank int) kernel.Arg {
	return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: rank}
}

var particle = ir.NewRecord("P", []ir.Field{{Name: "p", Elem: ir.Elem{Scalar: ir.F32}, Dims: []int{3}}, {Name: "q", Elem: ir.Elem{Scalar: ir.F32}}})

func compile(t *testing.T, body string) *kernel.Compiled {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: "(g, x, m, ps, k, w) => { " + body + " }"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Compile([]kernel.Arg{buffer(ir.F32, 1), buffer(ir.F32, 2), {Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: 1},
		buffer(ir.I32, 1), {Kind: kernel.Scalar, Type: ir.I32}}, kernel.Options{Warnings: true})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return c
}

const (
	free   = ", checked: … against …"
	parted = " (a scatter, which an `if` around the interior would spare)"
	sized  = ", checked if the launch is larger than the extent"
)

// TestAccesses checks the description of each kernel's last access. An index change along one axis does not hide that the
// access is contiguous along x.
func TestAccesses(t *testing.T) {
	for body, want := range map[string]string{
		"x[g.x] = 1":                                              "contiguous" + sized,
		"x[3] = 1":                                                "the same element for all items along x" + free,
		"if (g.x < x.length) x[g.x] = 1":                          "contiguous, never checked",
		"if (g.x <= x.length) x[g.x - 1] = 1":                     "contiguous, checked: `g.x - 1` may be negative",
		"m[Math.max(g.y - 1, 0)][g.x] = 1":                        "contiguous" + free,
		"m[g.y > 0 ? g.y - 1 : 0][g.x] = 1":                       "contiguous" + free,
		"m[(g.y + 1) % w][g.x] = 1":                               "contiguous" + free,
		"m[g.y >> 1][g.x] = 1":                                    "contiguous" + sized,
		"m[k[g.y]][g.x] = 1":                                      "contiguous" + free,
		"m[g.y][Math.min(g.x + 1, m.shape[1] - 1)] = 1":           "contiguous but at edges" + parted + ", checked: `Math.min(g.x + 1, m.shape[1] - 1)` may be negative",
		"m[g.y][(g.x + w) & (w - 1)] = 1":                         "contiguous but at edges" + parted + free,
		"m[g.y][g.x > 0 ? g.x - 1 : w - 1] = 1":                   "contiguous but at edges" + parted + free,
		"x[(g.x & ~(w - 1)) + (g.x & (w - 1))] = 1":               "at distances that vary between neighbouring items" + free,
		"x[(g.x & ~(w - 1)) * 2 + (g.x & (w - 1))] = 1":           "at distances that vary between neighbouring items" + free,
		"x[(g.x & -8) + w] = 1":                                   "at distances that vary between neighbouring items" + free,
		"x[(g.x & 7) * 2] = 1":                                    "strided by 2 elements but at edges" + free,
		"x[(g.x + 1) % w] = 1":                                    "contiguous but at edges" + parted + free,
		"x[w - g.x] = 1":                                          "contiguous, backwards" + free,
		"x[g.y * w + g.x] = 1":                                    "contiguous" + free,
		"x[g.x * w + g.y] = 1":                                    "strided by a number of elements that is known at the launch" + free,
		"x[3 * g.x + 1] = 1":                                      "strided by 3 elements" + free,
		"x[g.x << 2] = 1":                                         "strided by 4 elements" + free,
		"x[Math.min(2 * g.x, w)] = 1":                             "strided by 2 elements but at edges" + free,
		"m[g.x][0] = 1":                                           "strided by rows" + free,
		"m[g.x][g.x] = 1":                                         "strided by rows" + sized,
		"x[g.x ^ 1] = 1":                                          "at distances that vary between neighbouring items" + free,
		"x.flat[g.x] = 1":                                         "contiguous" + sized,
		"x[g.x * g.x] = 1":                                        "at distances that vary between neighbouring items" + free,
		"x[k[0]] = 1":                                             "the same element for all items along x" + free,
		"x[k[0] + g.x] = 1":                                       "contiguous" + free,
		"x[k[g.x]] = 1":                                           "scattered, since the index is computed from data" + free,
		"m[k[g.x]][g.y] = 1":                                      "scattered, since the index is computed from data" + free,
		"let i = g.x; while (x[i] > 0) i++; m[i][0] = 1":          "scattered, since the index is computed from data" + free,
		"const a = g.private(i32, 2); a[0] = k[g.x]; x[a[0]] = 1": "scattered, since the index is computed from data" + free,
		"m.flat[g.y * m.shape[1] + g.x] = 1":                      "contiguous" + free,
		"ps[g.x].p[1] = 1":                                        "strided by a record of 16 bytes" + sized,
		"ps[g.x].p[w] = 1":                                        "strided by a record of 16 bytes" + free,
		"ps[w - g.x].q = 1":                                       "strided by a record of 16 bytes, backwards" + free,
		"ps[2 * g.x].q = 1":                                       "strided by 2 records of 16 bytes" + free,
		"ps[w * g.x].q = 1":                                       "strided by a number of records of 16 bytes that is known at the launch" + free,
		"ps[g.x + 1].p[g.x] = 1":                                  "strided by a record of 16 bytes" + free,
		"ps[0].p[g.x] = 1":                                        "contiguous" + free,
		"ps[k[g.x]].q = 1":                                        "scattered, since the index is computed from data" + free,
		"ps[w].q = 1":                                             "the same element for all items along x" + free,
		"for (let i = g.x; i < x.length; i += 32) x[i] = 1":       "contiguous, checked: `i` may wrap below 0",
		"for (let i = 0; i < 4; i++) m[i][g.x] = 1":               "contiguous" + free,
		"let i = g.y - 1, j = g.x; if (i < 0) i = 0; m[i][j] = 1": "contiguous" + free,
		"let j = g.x + 1; if (j >= w) j = w - 1; m[g.y][j] = 1":   "contiguous but at edges" + parted + free,
		"m[g.y][i32(Math.sqrt(g.x))] = 1":                         "at distances that vary between neighbouring items" + free,
		"m[g.y][g.reduce.add(k[g.x])] = 1":                        "the same element for all items along x" + free,
		"m[g.y][(g.x < w && k[g.x] > 0) ? g.x : 2 * g.x] = 1":     "scattered, since the index is computed from data" + free,
		"const l = g.local.y * g.groupSize.x + g.local.x; for (let i = l; i < w; i += g.groupSize.x * g.groupSize.y) m.flat[i] = 1": "contiguous" + free,
		"for (let i = k[w] + g.local.x; i < k[w + 1]; i += g.groupSize.x) x[i] = 1":                                                 "contiguous" + free,
		"for (let i = g.lane; i < w; i += g.subgroupSize) x[i] = 1":                                                                 "contiguous but at edges" + free,
		"for (let i = g.x * w; i < w; i++) x[i] = 1":                                                                                "strided by a number of elements that is known at the launch" + free,
		"for (let i = k[w] + g.local.x; i < w;) { i += k[i]; x[i] = 1 }":                                                            "scattered, since the index is computed from data" + free,
		"for (let i = k[w] + g.local.x; i < w; i++) { if (x[i] > 3) { i += 5; continue } x[i] = 1 }":                                "scattered, since the index is computed from data" + free,
		"for (let i = k[w] + g.local.x, j = g.x; i < w; j = i) { i *= 2; x[j] = 1 }":                                                "scattered, since the index is computed from data" + free,
		"m[g.y][(g.x < w) ? g.x : 2 * g.x] = 1":                                                                                     "at distances that vary between neighbouring items" + free,
	} {
		list := Accesses(compile(t, body))
		a := list[len(list)-1]
		got := a.String()
		if strings.HasSuffix(want, free) {
			got = regexp.MustCompile("checked: `.*` against .*").ReplaceAllString(got, "checked: … against …")
		}
		if want := fmt.Sprintf("`%s` at 1:%d: %s", a.Text, a.Column, want); got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestReasons checks that the reason of a check names the unproved index and bound.
func TestReasons(t *testing.T) {
	for body, want := range map[string]string{
		"x[3] = 1":                  "`3` is not proved to be below x.length",
		"m[k[0]][k[g.x] + (2)] = 1": "`k[0]` is not proved to be below m.shape[0]",
		"if (w >= 0 && w < m.length) m[w][k[1]] = 1":            "`k[1]` is not proved to be below m.shape[1]",
		"const r = m[k[0]]; r[k[1]] = 1":                        "the index is not proved to be below m.shape[0]",
		"if (g.y < m.length) { const r = m[g.y]; r[k[1]] = 1 }": "`k[1]` is not proved to be below m.shape[1]",
		"m.flat[w] = 1":              "`w` is not proved to be below m.flat.length",
		"ps[0].p[w] = 1":             "`w` is not proved to be below 3",
		"Atomics.add(k, w, 1)":       "`w` is not proved to be below k.length",
		"if (w < x.length) x[w] = 1": "`w` may be negative",
		"const i = g.y * 8 + g.x; if (i < x.length) x[i] = 1":     "`i` may wrap below 0",
		"for (let i = g.x; i < x.length; i += g.size.x) x[i] = 1": "`i` may wrap below 0",
		"for (let i = g.x; i < x.length; i += w) x[i] = 1":        "`i` may be negative",
		"if (x.length > 0) x[(g.x + w) % x.length] = 1":           "`(g.x + w) % x.length` may be negative",
		"if (x.length > 0) x[(g.x + 5) % x.length] = 1":           "`(g.x + 5) % x.length` may wrap below 0",
	} {
		list := Accesses(compile(t, body))
		if a := list[len(list)-1]; a.Check == Never || a.reason() != want {
			t.Errorf("%s\n got %s\nwant %s", body, a.reason(), want)
		}
	}
}

// TestClamped checks that a clamped index needs no check if the array has elements.
func TestClamped(t *testing.T) {
	for _, index := range []string{"Math.max(0, Math.min(x.length - 1, g.x + w))", "Math.clamp(g.x + w, 0, x.length - 1)",
		"Math.min(Math.max(w, 0), x.length - 1)"} {
		for guard, want := range map[string]Check{"if (x.length > 0) ": Never, "if (x.length === 0) return; ": Never, "if (x.length !== 0) ": Never,
			"if (g.x < x.length) ": Never, "": Item, "if (x.length >= 0) ": Item, "if (x.length === 0) ": Item, "if (x.length !== 1) ": Item} {
			list := Accesses(compile(t, guard+"x["+index+"] = 1"))
			if a := list[len(list)-1]; a.Check != want {
				t.Errorf("%sx[%s]: %s", guard, index, &a)
			}
		}
	}
	list := Accesses(compile(t, "if (x.length > 1) x[Math.max(1, Math.min(x.length - 1, w))] = x[Math.max(2, Math.min(x.length - 1, w))]"))
	if list[0].Check != Item || list[1].Check != Never {
		t.Errorf("%s; %s", &list[0], &list[1])
	}
}

// TestWarnings checks that warnings appear if other code would be faster, once per kind of access.
func TestWarnings(t *testing.T) {
	for body, want := range map[string]string{
		"x[g.x] = g.x":                                                                    "",
		"x[g.x] = g.x * 2 + 1":                                                            "",
		"x[g.x] = (g.x * 7 + w) % 13":                                                     "",
		"x[g.x] = g.x < 3":                                                                "",
		"x[g.x] = 0.5 * (k[g.x] & 255)":                                                   "",
		"x[g.x] = (g.x + 0.5) / g.size.x":                                                 "",
		"x[g.x] = w * 0.5":                                                                "1:35 inexact-conversion",
		"x[g.x] = 0.5 * (g.x & w)":                                                        "1:42 inexact-conversion",
		"x[g.x] = 0.5 * (g.x % w)":                                                        "1:42 inexact-conversion",
		"x[g.x] = k[g.x]":                                                                 "1:35 inexact-conversion",
		"x[g.x] = 0.5 * (k[g.x] >>> 8)":                                                   "",
		"x[g.x] = 0.5 * (k[g.x] >>> 7)":                                                   "1:42 inexact-conversion",
		"x[g.x] = 0.5 * (g.x > 3 ? Math.clz32(g.x ^ w) : 7)":                              "",
		"x[g.x - 1] = x[g.x] + x[g.x + 1]":                                                "",
		"m[g.y][g.x] = m[g.y - 1][g.x]":                                                   "",
		"x[g.x ^ 1] = 1":                                                                  "",
		"for (let i = 0; i < w; i++) x[g.x] += x[i]":                                      "",
		"for (let i = 0; i < w; i++) x[k[i]] += x[g.x ^ i]":                               "1:65 gathered-access",
		"for (let i = 0; i < w; i++) x[g.x] += m[i][g.x]":                                 "1:64 unproved-check in `if (i < m.shape[0])`",
		"for (let i = 0; i < w; i++) x[g.x] += m[g.y][g.x + i]":                           "",
		"for (let i = 0; i < w; i++) x[i + g.x] += 1":                                     "",
		"for (let i = g.x; i < x.length; i += 9) x[i] += 1":                               "",
		"for (let i = 0; i < w; i++) m.flat[g.x + i] += 1":                                "",
		"for (let i = 0; i < w; i++) m[g.y][g.x + i - w] = 1":                             "",
		"for (let i = 0; i < w; i++) m[3][g.x] = 1":                                       "",
		"for (let i = 0; i < w; i++) m[3][g.x + w] = 1":                                   "",
		"for (let i = 0; i < w; i++) x[g.x] += m[g.y][Math.min(g.x + i, m.shape[1] - 1)]": "1:64 gathered-access",
		"for (let i = 0; i < w; i++) x[g.x] += m[g.y][(g.x + i) % w]":                     "1:64 gathered-access",
		"for (let i = 0; i < w; i++) { const j = g.x + i - 5; if (j >= 0 && j < m.shape[1]) x[g.x] += m[0][j] }":                                               "",
		"for (let i = 0; i < w; i++) { const j = g.x + i - 5; x[g.x] += j >= 0 && j < m.shape[1] ? m[0][j] : m[0][Math.max(0, Math.min(j, m.shape[1] - 1))] }": "",
		"Atomics.add(k, k[g.x], 1)":                                     "1:26 gathered-access",
		"for (let i = 0; i < w; i++) ps[g.x].p[i] += 1":                 "1:54 unproved-check in `if (i < 3)`",
		"ps[g.x].q = ps[g.x].p[1]":                                      "",
		"ps[3 * g.x].q = 1":                                             "1:26 strided-access",
		"m[g.x][0] = m[g.x][1] + m[g.x][2]":                             "1:26 strided-access (and 2 more of m)",
		"x[2 * g.x] = m[g.x][0]":                                        "1:26 strided-access, 1:39 strided-access",
		"Atomics.add(k, 0, g.x)":                                        "1:26 contended-atomic",
		"if (g.x < x.length) Atomics.max(k, w, 3)":                      "1:46 contended-atomic",
		"if (g.local.x === 0) Atomics.add(k, 0, 1)":                     "",
		"if (g.x < w && g.local.x == 3) Atomics.add(k, 0, 1)":           "",
		"if (g.local.x !== 0) { x[g.x] = 1 } else Atomics.add(k, 0, 1)": "",
		"if (g.local.x !== 0) return; Atomics.add(k, 0, 1)":             "",
		"if (g.x >= w) return; Atomics.add(k, 0, 1)":                    "1:48 contended-atomic",
		"if (g.local.x !== 0) Atomics.add(k, 0, 1)":                     "1:47 contended-atomic",
		"x[g.x] = Atomics.load(k, 0) * 0.5":                             "1:35 inexact-conversion",
		"Atomics.add(k, g.x, 1)":                                        "",
		"x[k[g.x]] = m[g.y][k[g.x]]":                                    "1:26 gathered-access, 1:38 gathered-access",
	} {
		got := ""
		for _, w := range Warnings(compile(t, body)) {
			if got != "" {
				got += ", "
			}
			got += fmt.Sprintf("%d:%d %s", w.Line, w.Column, w.ID)
			if w.ID == "unproved-check" {
				got += strings.TrimSuffix(w.Rewrite[len("compare the index with the extent first, as"):], worth)
			}
			if i := len(w.Message) - 1; w.Message[i] == ')' && w.ID == "strided-access" {
				got += w.Message[len(w.Message)-len(" (and 2 more of m)"):]
			}
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
}

// TestShared checks the list of accesses to shared arrays in loops.
func TestShared(t *testing.T) {
	body := "const t = g.shared(f32, 16, 16); t[g.local.y][g.local.x] = 1; g.barrier(); for (let i = 0; i < w; i++) x[g.x] += t[g.local.y][i] * t[i & 15][g.local.x]"
	var got []string
	for _, a := range Shared(compile(t, body)) {
		got = append(got, a.String())
	}
	want := []string{
		"`t[g.local.y][i]` at 1:139: the same element for all items along x, checked: `g.local.y` against 16",
		"`t[i & 15][g.local.x]` at 1:157: contiguous, checked: `g.local.x` against 16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTiles checks that stores to shared arrays are listed once per array, if other items read them.
func TestTiles(t *testing.T) {
	for body, want := range map[string]string{
		"const t = g.shared(f32, 64); t[g.local.x] = x[g.x]; g.barrier(); t[0] = 1; x[g.x] = t[g.local.x ^ 1]":    "t[g.local.x] at 1:55",
		"const t = g.shared(f32, 8), u = g.shared(f32, 8); u[0] = 1; t[0] = 1; g.barrier(); x[g.x] = t[1] + u[1]": "t[0] at 1:86, u[0] at 1:76",
		"const t = g.shared(i32, 4); Atomics.add(t, 0, 1); g.barrier(); k[g.x] = t[0]":                            "",
		"const t = g.shared(f32, 64); t[g.local.x] = x[g.x]; x[g.x] = t[g.local.x]":                               "",
		"const t = g.private(f32, 4); t[0] = x[g.x]; g.barrier(); x[g.x] = t[0]":                                  "",
	} {
		got := ""
		for _, tile := range Tiles(compile(t, body)) {
			if got != "" {
				got += ", "
			}
			got += fmt.Sprintf("%s at %d:%d", tile.Text, tile.Line, tile.Column)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
}
