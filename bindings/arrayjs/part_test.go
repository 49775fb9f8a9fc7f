package arrayjs_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestParts compares operations that read a part in place with the same ones on a copy.
func TestParts(t *testing.T) {
	shapes := []struct {
		shape string
		parts []string
	}{
		{"[11]", []string{"3", "-5", "[null, null, 2]", "[null, null, -1]", "[7, 2, -2]", "4, 4", "0, 1", "[3, 9, 1]"}},
		{"[30011]", []string{"3", "[null, null, 2]", "5, 29999"}},
		{"[13, 7]", []string{"null, 1", "3", "2, 9", "[null, null, -2], [1, 6, 2]", "null, [0, 5]", "4", "-1, [0, 3]", "null, -1", "[2, 3], null", "[2, 3], [1, 5]", "[0, 0], null"}},
		{"[5, 4, 6]", []string{"null, null, 2", "1", "[1, 4], null, [0, 6, 3]", "null, 2", "2, null, 3", "[null, null, 2]", "null, [1, 3], [2, 5]", "[4, null, -1], 1, [5, null, -1]"}},
	}
	methods := []string{
		"sum()", "sum(0)", "sum({ axis: -1, keepDims: true })", "min(-1)", "mean(0)", "any(-1)", "norm()", "map(v => v * 2 + 1)", "map((v, i) => v * i)", "prod(0)",
		"reduce((a, b) => a * 3 + b)", "reduce((a, b) => Math.max(a, b), { axis: 0 })", "max([0])", "map(v => v - 1).sum(0)", "zip(3, (a, b) => a * b)", "zip(w, (a, b) => a + b)",
	}
	script := `
import { explain } from 'array'
const outcome = async fn => { try { const v = await fn(); return v?.read ? v.type + ' ' + v.shape + ': ' + await v.read() : String(v) } catch (e) { return e.message } }
let count = 0
const same = async (chained, apart) => {
  for (let i = 0; i < 2; i++) {
    const a = await outcome(chained), b = await outcome(apart)
    count++
    if (a !== b) console.log(chained.toString() + ' is\n ' + a.slice(0, 300) + ', with a copy\n ' + b.slice(0, 300))
  }
}
let x, w
`
	for _, p := range places(t) {
		every := map[string]int{"cpu": 3, "interpreter": 7, "far": 7, "opencl": 29, "cuda": 5}[p.name] // a driver compiles for long
		if long {
			every = 1
		}
		text, count := script, 0
		for i, typ := range strings.Fields("f32 u8 f64 i64 f16 bool") {
			for k, s := range shapes {
				if p.name == "opencl" && !long && (i != 0 || k != 2) {
					continue
				}
				text += fmt.Sprintf("x = A('%s', %s), w = A('%[1]s', [1])\n", typ, s.shape)
				for at, part := range s.parts {
					for j, m := range methods {
						if (at*len(methods)+j+i)%every != 0 {
							continue
						}
						text += fmt.Sprintf("await same(() => x.slice(%s).%s, () => { const y = x.slice(%[1]s); return y.%[2]s })\n", part, m)
						count += 2
					}
				}
			}
		}
		text += "console.log(count)\nx = A('f32', [100, 8])\n" +
			"console.log(explain(() => x.slice(null, 1).sum()))\nconsole.log(explain(() => x.slice([0, 50, 2], [1, 5]).map(v => v * 2).sum(0)))\n" +
			"console.log(explain(() => x.slice(3, 9).map(v => v + 1)))\nconsole.log(explain(() => x.slice([0, 50, 2], [1, 5]).sum()))\n" +
			"const z = d.full(f32, 5, 1)\nconsole.log(await z.slice(1, 4).zip(z.fill(3).slice(1, 4), (a, b) => a * b).sum()) // slice has run before fill\n"
		got := run(t, p, fmt.Sprintf(prelude, p.device)+text)
		want := fmt.Sprintf("%d\nsum: slice, sum in one launch, #sum(a: f32[][], i0: i32, i1: i32, out: f32[][])\n", count) +
			"sum: slice, map, sum in one launch, #sum(a: f32[][], i0: i32, i1: i32, i2: i32, i3: i32, out: f32[][][])\n" +
			"map: slice, map in one launch, [48] work-items, map(out: f32[], a: f32[])\n" +
			"sum: slice, sum in one launch, #sum(out: f32[][], a: f32[][], i0: i32, i1: i32, i2: i32)\nsum, #sum(a: f32[][], out: f32[][])\n9\n"
		if !matches(got, want) {
			t.Errorf("%s printed\n%s\nwant\n%s", p.name, got, want)
		}
	}
}

// matches reports whether a text is another one, in which # stands for some text of a line.
func matches(got, want string) bool {
	lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(lines) != len(wanted) {
		return false
	}
	for i, w := range wanted {
		before, after, found := strings.Cut(w, "#")
		if !found && lines[i] != w || !strings.HasPrefix(lines[i], before) || !strings.HasSuffix(lines[i], after) {
			return false
		}
	}
	return true
}
