package emitjs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emitjs"
	"github.com/orepl/orepl/lang/kernel/ir"
)

const module = `orepl-ir 1
kernel sum(a %a.0: f32, x: f32[*], m: i64[*,*]) real f32 {
  shared tile: f32[4]
  table odd: u8[2] = [1, 3]
  site 0 = 0:0:0 ""
  %i.1: i32 = item.global.x
  %zero.2: i32 = const 0
  %n.3: i32 = extent.0 x
  %least.4: i32 = const -3
  %s.5: f32 = loop @1 (%k.6: i32 = %least.4, %t.7: f32 = %a.0) {
    %more.8: bool = lt %k.6, %n.3
    if %more.8 {
      yield
    } else {
      break @1 %t.7
    }
    %v.9: f32 = load x[%i.1]
    %w.10: f32 = fma %v.9, %a.0, %t.7
    %o.11: i32 = load odd[%zero.2]
    %k2.12: i32 = add %k.6, %o.11
    continue @1 %k2.12, %w.10
  }
  %r.13: f32 = reduce.add %s.5
  store x[%i.1], %r.13
  %five.14: i64 = const 5
  %old.15: i64 = atomic.add m[%zero.2][%i.1], %five.14
  print "x is " %r.13 "\n"
  return
}
`

const want = `(() => {
  const odd$3 = new Memory("odd", new Uint8Array([1,3]))
  return {
    name: "sum",
    observesGroup: true, cooperates: true,
    shared: () => ({
      tile$2: new Memory("tile", new Uint8Array(16)),
    }),
    *item(g, a_0, x$0, m$1) {
      const { tile$2 } = g.team.shared
      let s_5
      let k_6 = (-3)
      let t_7 = a_0
      loop1: for (;;) {
        const more_8 = k_6 < x$0.dims[0]
        if (!more_8) {
          s_5 = t_7
          break loop1
        }
        const v_9 = x$0.f32(g.index(x$0, 0, 0, g.global[0], x$0.dims[0]) * 4)
        const w_10 = fma_f32(v_9, a_0, t_7)
        const o_11 = odd$3.u8(g.index(odd$3, 0, 0, 0, 2) * 1)
        const k2_12 = k_6 + o_11 | 0
        ;[k_6, t_7] = [k2_12, w_10]
        continue loop1
      }
      const r_13 = yield { op: 'reduce', number: 1, site: 0, type: 'f32', value: s_5, name: 'add', exclusive: false }
      x$0.set_f32(g.index(x$0, 0, 0, g.global[0], x$0.dims[0]) * 4, r_13)
      const p2 = g.index(m$1, 0, 0, 0, m$1.dims[0]) * 8 * m$1.dims[1] + g.index(m$1, 0, 1, g.global[0], m$1.dims[1]) * 8
      const old2 = m$1.i64(p2)
      m$1.set_i64(p2, i64(old2 + 5n))
      g.print(0, "x is " + r_13 + "\n")
      return
    },
  }
})()`

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.ParseText("test.ir", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEmit(t *testing.T) {
	got, err := emitjs.Emit(parse(t, module).Kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestUnsupported(t *testing.T) {
	m := parse(t, "orepl-ir 1\nkernel f(a %0: f32) real f32 {\n site 0 = 0:0:0 \"\"\n %1: f32 = math.sin %0\n return\n}")
	var u *emitjs.UnsupportedError
	if _, err := emitjs.Module(m.Kernels...); !errors.As(err, &u) || !strings.Contains(err.Error(), "math.sin") {
		t.Errorf("%v", err)
	}
}

// TestModuleIsAProgram runs a saved module in Node.
func TestModuleIsAProgram(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	k := parse(t, module).Kernels[0]
	text, err := emitjs.Module(k, k, k)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sum.js")
	text += `
const x = new Memory('x', new Uint8Array(new Float32Array([1, 2, 3]).buffer), [3])
const m = new Memory('m', new Uint8Array(24), [1, 3])
const { prints, fault } = run(kernel_sum, { size: [3, 1, 1], groupSize: [4, 1, 1], args: [2, x, m] })
const y = new Memory('y', new Uint8Array(new Float32Array([1, 2, 3]).buffer), [3])
run(kernel_sum_3, { size: [3, 1, 1], groupSize: [4, 1, 1], args: [2, y, new Memory('m', new Uint8Array(24), [1, 3])] })
console.log(y.f32(4) === x.f32(4), x.f32(0), x.f32(8), m.i64(16), prints.length, fault)
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, file).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "true 78 78 5n 3 undefined" {
		t.Errorf("%v: %s", err, got)
	}
}
