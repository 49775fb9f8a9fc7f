package arrayjs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
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

// TestCounts checks numbers of parts and copies that are large, or no Numbers.
func TestCounts(t *testing.T) {
	const script = `
import { device, i32, u8 } from 'offload'
const d = device('cpu'), x = d.arange(i32, 6)
const say = fn => { try { console.log(String(fn())) } catch (e) { console.log(e.message) } }
say(() => x.split(Array.from({ length: 20 }, (_, i) => i)).map(b => b.length))
say(() => x.split(Int16Array.of(1, -2)).map(b => b.length))
say(() => x.split(3n).map(b => b.length))
say(() => x.split([]).map(b => b.length))
say(() => d.zeros(u8, 2048).repeat(2 ** 53))
say(() => d.zeros(u8, [2, 2048]).repeat(2 ** 53, 1))
say(() => d.zeros(u8, [0, 3]).repeat(2 ** 53, 0).shape)
`
	const want = "0,1,1,1,1,1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n1,3,2\n2,2,2\n6\n" +
		"repeat on cpu: 9007199254740992 copies of 2048 elements are more than 2147483647\n" +
		"repeat on cpu: 9007199254740992 copies of 2048 elements are more than 2147483647\n0,3\n"
	if got := run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, script); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestManyParts checks that a time limit ends a call of split that makes parts of no elements.
func TestManyParts(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	defer func() { _ = rt.Shutdown(context.Background()) }()
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := e.Run(ctx, "t.js", "import { device, u8 } from 'offload'\ndevice('cpu').zeros(u8, 0).split(2e6)"); err == nil || time.Since(deadline(ctx)) > 5*time.Second {
		t.Errorf("the call ended %v after the limit, with the error %v", time.Since(deadline(ctx)), err)
	}
}

func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}
