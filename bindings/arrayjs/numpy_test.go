package arrayjs_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/conform/far"
	contract "github.com/orepl/orepl/runtime/offload"
)

// A comparison is an expression of scripts and its equivalent in NumPy, over the inputs x, y and n.
type comparison struct {
	js, py    string
	types     string // element types of x, all if empty
	shapes    string // shapes of x, all if empty
	tolerance float64
}

// Element types and shapes of inputs.
const (
	floats   = "f16 bf16 f32 f64"
	integers = "i8 u8 i16 u16 i32 u32 i64 u64"
	wide     = "i32 f32 f64"
	all      = "bool " + integers + " " + floats
	vectors  = "0 1 7 255 256 257 1000 16385"
	matrices = "3,0 1,1 5,7 64,65 300,3"
	cubes    = "2,3,5 4,1,70"
)

// long states whether all comparisons run on all devices.
var long = os.Getenv("OREPL_TEST_LONG") == "1"

// prelude defines the inputs in scripts.
const prelude = `
import { device, bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 } from 'offload'
import { concat, stack, where, meshgrid } from 'array'
const d = device(%q)
const types = { bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 }
const special = [NaN, Infinity, -0, 0, -Infinity, 1, 1]
const value = (t, i, salt) => {
  const k = (i * 37 + salt * 11) %% 101
  if (t === 'bool') return k %% 2 === 1
  if (t[0] === 'u') return k
  if (t[0] === 'i') return k - 50
  return (k - 50) / 8
}
const A = (t, shape, salt = 0) => {
  const n = shape.reduce((a, b) => a * b, 1)
  const big = t === 'i64' || t === 'u64'
  const list = Array.from({ length: n }, (_, i) => big ? BigInt(value(t, i, salt)) : value(t, i, salt))
  return d.zeros(types[t], shape).write(list)
}
const S = t => d.buffer(types[t], 7).write(special)
const text = v => typeof v === 'bigint' ? String(v) : typeof v === 'boolean' ? String(Number(v)) : Object.is(v, -0) ? '-0' : String(v)
async function emit(fn) {
  let r
  try { r = await fn() } catch (e) { if (!e.code) throw e; console.log('error ' + e.code); return }
  if (typeof r === 'object') console.log('[' + r.shape.join() + '] ' + Array.from(await r.read(), text).join(' '))
  else console.log('[] ' + text(r))
}
`

// pythonPrelude defines the inputs in Python.
const pythonPrelude = `
import numpy as np, sys, warnings
warnings.simplefilter('ignore')
types = dict(bool=np.bool_, i8=np.int8, u8=np.uint8, i16=np.int16, u16=np.uint16, i32=np.int32, u32=np.uint32, i64=np.int64, u64=np.uint64, f16=np.float16, bf16=np.float32, f32=np.float32, f64=np.float64)
inf, nan = np.inf, np.nan
def value(t, i, salt):
    k = (i * 37 + salt * 11) % 101
    if t == 'bool': return k % 2 == 1
    if t[0] == 'u': return k
    if t[0] == 'i': return k - 50
    return (k - 50) / 8
def A(t, shape, salt=0):
    n = int(np.prod(shape))
    return np.array([value(t, i, salt) for i in range(n)], dtype=types[t]).reshape(shape)
def assign(x, at, v):
    x[at] = v
    return x
def S(t): return np.array([nan, inf, -0.0, 0.0, -inf, 1, 1], dtype=types[t])
def text(v):
    if isinstance(v, (bool, np.bool_)): return str(int(v))
    if isinstance(v, (int, np.integer)): return str(int(v))
    return repr(float(v))
def emit(fn):
    try: r = fn()
    except Exception as e: print('error', type(e).__name__, e); return
    if isinstance(r, np.ndarray) and r.ndim > 0: print('[' + ','.join(map(str, r.shape)) + '] ' + ' '.join(map(text, r.ravel())))
    else: print('[] ' + text(r[()] if isinstance(r, np.ndarray) else r))
`

// instances writes each comparison for its types and shapes as a line of a script and one of Python.
func instances(comparisons []comparison) (js, py []string, of []comparison) {
	for k, c := range comparisons {
		types, shapes := c.types, c.shapes
		if types == "" {
			types = all
		}
		if shapes == "" {
			shapes = vectors + " " + matrices + " " + cubes
		}
		list := strings.Fields(shapes)
		for at, t := range strings.Fields(types) {
			for i, s := range list {
				if !long && (i+k+at)%len(list) >= map[string]int{"f32": 5, "i32": 2}[t]+1 { // a part of the shapes
					continue
				}
				js = append(js, fmt.Sprintf("await emit(() => { const x = A('%s', [%s]), t = '%[1]s'; return %[3]s })", t, s, c.js))
				py = append(py, fmt.Sprintf("t = '%s'; x = A(t, [%s]); emit(lambda: %s)", t, s, c.py))
				of = append(of, c)
			}
		}
	}
	return js, py, of
}

// numpy returns the lines that Python prints. OREPL_PYTHON names the interpreter with NumPy; Debian's is the default.
func numpy(t *testing.T, lines []string) []string {
	t.Helper()
	python := cmp.Or(os.Getenv("OREPL_PYTHON"), "/usr/bin/python3")
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no NumPy to compare with")
		}
		t.Skip("there is no NumPy to compare with: ./tests/run installs it")
	}
	cmd := exec.Command(python, "-")
	cmd.Stdin = strings.NewReader(pythonPrelude + strings.Join(lines, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// A place is a device with its plugin.
type place struct {
	name, device string
	plugin       contract.Plugin
}

// onGPU states whether the comparisons also run on the first NVIDIA GPU.
var onGPU = os.Getenv("OREPL_GPU") == "1"

// places returns the devices: compiled and interpreted on the CPU, an OpenCL driver, and one whose memory is out of reach. With
// OREPL_GPU=1 they are the CPU and the first NVIDIA GPU.
func places(t *testing.T) []place {
	if onGPU {
		return []place{{"cpu", "cpu", cpu.New(cpu.Options{})}, {"cuda", "cuda:0", cuda.New(cuda.Options{})}}
	}
	list := []place{
		{"cpu", "cpu", cpu.New(cpu.Options{})},
		{"interpreter", "cpu", cpu.New(cpu.Options{Debug: "cpu-engine=interp"})},
		{"far", "far:0", far.Wrap("far", cpu.New(cpu.Options{}))},
	}
	if p, err := opencl.New(opencl.Options{}).Open(t.Context()); err == nil {
		_ = p.Close()
		list = append(list, place{"opencl", "opencl:0", opencl.New(opencl.Options{})})
	} else if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	return list
}

// run runs a script on a device and returns what it prints.
func run(t testing.TB, p place, script string) string {
	t.Helper()
	return runOn(t, p.name, script, p.plugin)
}

// runOn runs a script on the devices of plugins and returns what it prints. name stands in errors.
func runOn(t testing.TB, name, script string, plugins ...contract.Plugin) string {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: plugins})
	defer func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if _, err := e.Run(t.Context(), "t.js", script); err != nil {
		t.Fatalf("%s: %v\n%s", name, diag.Format(err, false), &out)
	}
	return out.String()
}

// TestLikeNumPy compares operations with NumPy for all element types and many shapes, and the devices with each other. The
// other devices run a part of the comparisons unless OREPL_TEST_LONG is 1.
func TestLikeNumPy(t *testing.T) {
	js, py, of := instances(comparisons)
	for i := range specials {
		specials[i].types, specials[i].shapes = floats, "1"
	}
	moreJS, morePy, more := instances(specials)
	js, py, of = append(js, moreJS...), append(py, morePy...), append(of, more...)
	want := numpy(t, py)
	if len(want) != len(py) {
		t.Fatalf("Python printed %d lines for %d comparisons", len(want), len(py))
	}
	var first []string
	for k, p := range places(t) {
		every := map[string]int{"interpreter": 9, "far": 17, "opencl": 163}[p.name] // a driver compiles for long
		if long || p.name == "cuda" {
			every = 1
		}
		var lines []string
		var which []int
		for i := range js {
			if first == nil || i%every == k%every {
				lines, which = append(lines, js[i]), append(which, i)
			}
		}
		got := strings.Split(strings.TrimSuffix(run(t, p, fmt.Sprintf(prelude, p.device)+strings.Join(lines, "\n")), "\n"), "\n")
		if len(got) != len(lines) {
			t.Fatalf("%s printed %d lines for %d comparisons", p.name, len(got), len(lines))
		}
		for at, i := range which {
			if first != nil && got[at] != first[i] {
				t.Errorf("%s differs on %s\n got %.300s\nwant %.300s", js[i], p.name, got[at], first[i])
			}
			if err := agrees(got[at], want[i], of[i].tolerance); first == nil && err != nil {
				t.Errorf("%s: %v\n got %.300s\nwant %.300s", js[i], err, got[at], want[i])
			}
		}
		if first == nil {
			first = got
		}
		t.Logf("%s ran %d comparisons", p.name, len(lines))
	}
}

// agrees compares two printed results.
func agrees(got, want string, tolerance float64) error {
	g, w := strings.Fields(got), strings.Fields(want)
	if w[0] == "error" || g[0] == "error" {
		if g[0] != w[0] {
			return fmt.Errorf("only one of them fails")
		}
		return nil
	}
	if g[0] != w[0] || len(g) != len(w) {
		return fmt.Errorf("the shapes differ: %s and %s, %d and %d elements", g[0], w[0], len(g)-1, len(w)-1)
	}
	scale := 0.0
	numbers := make([][2]float64, 0, len(g))
	for i := 1; i < len(g); i++ {
		a, err1 := strconv.ParseFloat(g[i], 64)
		b, err2 := strconv.ParseFloat(w[i], 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("element %d: %v, %v", i-1, err1, err2)
		}
		if !math.IsInf(b, 0) && b == b {
			scale = max(scale, math.Abs(b))
		}
		numbers = append(numbers, [2]float64{a, b})
	}
	for i, n := range numbers {
		a, b := n[0], n[1]
		same := a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
		if !same && (math.IsInf(a, 0) || math.IsInf(b, 0) || !(math.Abs(a-b) <= tolerance*scale)) {
			return fmt.Errorf("element %d is %s, in NumPy %s", i, g[i+1], w[i+1])
		}
	}
	return nil
}
