package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// workload is a kernel in its usual form, and an equivalent C function.
type workload struct {
	name, unit string
	text       string
	size       [3]int
	work       float64 // work of one run, in the unit that is measured per second, such as GB
	buffers    []ir.Type
	dims       [][]int
	result     int     // index of the buffer to compare
	tolerance  float64 // relative above 1, else absolute; 0: equal bytes, or 99 % of equal 32-bit integers, since C fuses operations
	scalars    []uintptr
	group      [3]int // group size; zero for the language's default
	symbol     string // name of the C function
}

var workloads = []workload{
	{"saxpy 4 Mi", "GB/s", `(g, x, y) => { y[g.x] = 0.5 * x[g.x] + y[g.x] }`, [3]int{4 << 20, 1, 1}, 12 * (4 << 20) / 1e9,
		[]ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {4 << 20}}, 1, 1e-6, []uintptr{4 << 20}, [3]int{}, "run_saxpy"},
	{"mandelbrot 1024²", "Mpix/s", `(g, it) => {
  const cx = -2 + 3 * g.x / 1024, cy = -1.5 + 3 * g.y / 1024
  let x = 0, y = 0, n = 0
  while (n < 256 && x * x + y * y < 4) { const t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++ }
  it[g.y][g.x] = n
}`, [3]int{1024, 1024, 1}, 1024 * 1024 / 1e6, []ir.Type{ir.I32}, [][]int{{1024, 1024}}, 0, 0, []uintptr{1024, 1024}, [3]int{}, "run_mandelbrot"},
	{"mix 256 Ki", "Gop/s", `(g, x) => {
  const v = x[g.x]
  let a = v, b = v ^ 0x9e3779b9, c = (v + 77) | 0, d = (v * 3) | 0
  for (let r = 0; r < 64; r++) {
    a = (a + b) | 0; d = d ^ a; d = (d << 16) | (d >>> 16)
    c = (c + d) | 0; b = b ^ c; b = (b << 12) | (b >>> 20)
    a = (a + b) | 0; d = d ^ a; d = (d << 8) | (d >>> 24)
    c = (c + d) | 0; b = b ^ c; b = (b << 7) | (b >>> 25)
  }
  x[g.x] = a ^ b ^ c ^ d
}`, [3]int{256 << 10, 1, 1}, 24 * 64 * (256 << 10) / 1e9, []ir.Type{ir.I32}, [][]int{{256 << 10}}, 0, 0, []uintptr{256 << 10}, [3]int{}, "run_mix"},
	{"n-body 4096", "GFLOP/s", `(g, x, y, z, m, ax) => {
  const i = g.x
  let fx = 0, fy = 0, fz = 0
  for (let j = 0; j < x.length; j++) {
    const dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i]
    const r2 = dx * dx + dy * dy + dz * dz + 0.01
    const s = m[j] / (r2 * Math.sqrt(r2))
    fx += s * dx; fy += s * dy; fz += s * dz
  }
  ax[i] = fx + fy + fz
}`, [3]int{4096, 1, 1}, 20 * 4096 * 4096 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32, ir.F32, ir.F32},
		[][]int{{4096}, {4096}, {4096}, {4096}, {4096}}, 4, 1e-2, []uintptr{4096}, [3]int{}, "run_nbody"},
	{"stencil 1024²", "GB/s", `(g, from, to) => {
  const x = g.x, y = g.y
  if (x > 0 && y > 0 && x < 1023 && y < 1023)
    to[y][x] = 0.2 * (from[y][x] + from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x])
}`, [3]int{1024, 1024, 1}, 8 * 1024 * 1024 / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{1024, 1024}, {1024, 1024}}, 1, 1e-5,
		[]uintptr{1024, 1024}, [3]int{}, "run_stencil"},
	{"triad 4 Mi", "GB/s", `(g, x, y, z) => { z[g.x] = x[g.x] + 3 * y[g.x] }`, [3]int{4 << 20, 1, 1}, 12 * (4 << 20) / 1e9,
		[]ir.Type{ir.F32, ir.F32, ir.F32}, [][]int{{4 << 20}, {4 << 20}, {4 << 20}}, 2, 1e-6, []uintptr{4 << 20}, [3]int{}, "run_triad"},
	{"copy 4 Mi", "GB/s", `(g, x, y) => { y[g.x] = x[g.x] }`, [3]int{4 << 20, 1, 1}, 8 * (4 << 20) / 1e9,
		[]ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {4 << 20}}, 1, 1e-6, []uintptr{4 << 20}, [3]int{}, "run_copy"},
	{"fill 4 Mi", "GB/s", `(g, x) => { x[g.x] = 1.5 }`, [3]int{4 << 20, 1, 1}, 4 * (4 << 20) / 1e9,
		[]ir.Type{ir.F32}, [][]int{{4 << 20}}, 0, 1e-6, []uintptr{4 << 20}, [3]int{}, "run_fill"},
	{"transpose 2048², naive", "GB/s", `(g, from, to) => { to[g.x][g.y] = from[g.y][g.x] }`, [3]int{2048, 2048, 1},
		8 * 2048 * 2048 / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{2048, 2048}, {2048, 2048}}, 1, 1e-6, []uintptr{2048}, [3]int{}, "run_transpose"},
	{"Black-Scholes 1 Mi, exact", "Mopt/s", `(g, s, out) => {
  const S = 100 + 40 * s[g.x]
  const d1 = (Math.log(S / 100) + 0.065) / 0.3, d2 = d1 - 0.3
  out[g.x] = S * 0.5 * (1 + Math.erf(d1 * 0.70710678)) - 100 * Math.exp(-0.02) * 0.5 * (1 + Math.erf(d2 * 0.70710678))
}`, [3]int{1 << 20, 1, 1}, (1 << 20) / 1e6, []ir.Type{ir.F32, ir.F32}, [][]int{{1 << 20}, {1 << 20}}, 1, 1e-4,
		[]uintptr{1 << 20}, [3]int{}, "run_black_scholes"},
	{"Black-Scholes 1 Mi, fast", "Mopt/s", `(g, s, out) => {
  const S = 100 + 40 * s[g.x]
  const d1 = (Math.fast.log(S / 100) + 0.065) / 0.3, d2 = d1 - 0.3
  out[g.x] = S * 0.5 * (1 + Math.fast.erf(d1 * 0.70710678)) - 100 * Math.fast.exp(-0.02) * 0.5 * (1 + Math.fast.erf(d2 * 0.70710678))
}`, [3]int{1 << 20, 1, 1}, (1 << 20) / 1e6, []ir.Type{ir.F32, ir.F32}, [][]int{{1 << 20}, {1 << 20}}, 1, 1e-4,
		[]uintptr{1 << 20}, [3]int{}, "run_black_scholes"},
	{"n-body 4096, fast", "GFLOP/s", `(g, x, y, z, m, ax) => {
  const i = g.x
  let fx = 0, fy = 0, fz = 0
  for (let j = 0; j < x.length; j++) {
    const dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i]
    const r = Math.fast.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
    const s = m[j] * r * r * r
    fx += s * dx; fy += s * dy; fz += s * dz
  }
  ax[i] = fx + fy + fz
}`, [3]int{4096, 1, 1}, 20 * 4096 * 4096 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32, ir.F32, ir.F32},
		[][]int{{4096}, {4096}, {4096}, {4096}, {4096}}, 4, 1e-2, []uintptr{4096}, [3]int{}, "run_nbody"},
	{"sum 4 Mi, in groups", "GB/s", `(g, x, out) => {
  let sum = 0
  for (let i = g.x; i < 4194304; i += 65536) sum += x[i]
  const all = g.reduce.add(sum)
  if (g.local.x === 0) out[g.group.x] = all
}`, [3]int{65536, 1, 1}, 4 * (4 << 20) / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {256}}, 1, 1e-3,
		[]uintptr{4 << 20}, [3]int{256, 1, 1}, "run_sums"},
	{"sums of 256, 4 Mi", "GB/s", `(g, x, out) => {
  const all = g.reduce.add(x[g.x])
  if (g.local.x === 0) out[g.group.x] = all
}`, [3]int{4 << 20, 1, 1}, 4 * (4 << 20) / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {16384}}, 1, 1e-3,
		[]uintptr{4 << 20}, [3]int{256, 1, 1}, "run_sums_256"},
	{"scans of 256, 4 Mi", "GB/s", `(g, x, out) => { out[g.x] = g.scan.add(x[g.x]) }`, [3]int{4 << 20, 1, 1}, 8 * (4 << 20) / 1e9,
		[]ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {4 << 20}}, 1, 1e-3, []uintptr{4 << 20}, [3]int{256, 1, 1}, "run_scans_256"},
	{"histogram 256, 4 Mi", "Gelem/s", `(g, data, bins) => {
  const local = g.shared(i32, 256)
  const first = g.group.x * 65536 + g.local.x
  for (let k = 0; k < 256; k++) Atomics.add(local, data[first + 256 * k] & 255, 1)
  g.barrier()
  Atomics.add(bins, g.local.x, local[g.local.x])
}`, [3]int{(4 << 20) / 256, 1, 1}, (4 << 20) / 1e9, []ir.Type{ir.I32, ir.I32}, [][]int{{4 << 20}, {256}}, 1, 0,
		[]uintptr{4 << 20}, [3]int{256, 1, 1}, "run_histogram"},
	{"sgemm 512, naive", "GFLOP/s", `(g, a, b, c) => {
  let sum = 0
  for (let k = 0; k < 512; k++) sum += a[g.y][k] * b[k][g.x]
  c[g.y][g.x] = sum
}`, [3]int{512, 512, 1}, 2 * 512 * 512 * 512 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32}, [][]int{{512, 512}, {512, 512}, {512, 512}}, 2,
		1e-3, []uintptr{512}, [3]int{}, "run_sgemm"},
	{"sgemm 1024, register tile", "GFLOP/s", `(g, a, b, c) => {
  const sum = g.private(f32, 8)
  const x = g.x, y = 8 * g.y
  for (let k = 0; k < 1024; k++)
    for (let i = 0; i < 8; i++) sum[i] += a[y + i][k] * b[k][x]
  for (let i = 0; i < 8; i++) c[y + i][x] = sum[i]
}`, [3]int{1024, 128, 1}, 2 * 1024 * 1024 * 1024 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32},
		[][]int{{1024, 1024}, {1024, 1024}, {1024, 1024}}, 2, 1e-3, []uintptr{1024}, [3]int{}, "run_sgemm_tile"},
	{"sgemm 1024, panels in shared memory", "GFLOP/s", `(g, a, b, c) => {
  const panel = g.shared(f32, 256, 32), sum = g.private(f32, 8)
  const x = g.x, y = 8 * g.y
  for (let p = 0; p < 1024; p += 256) {
    for (let i = g.local.y; i < 256; i += 16) panel[i][g.local.x] = b[p + i][x]
    g.barrier()
    for (let k = 0; k < 256; k++)
      for (let i = 0; i < 8; i++) sum[i] += a[y + i][p + k] * panel[k][g.local.x]
    g.barrier()
  }
  for (let i = 0; i < 8; i++) c[y + i][x] = sum[i]
}`, [3]int{1024, 128, 1}, 2 * 1024 * 1024 * 1024 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32},
		[][]int{{1024, 1024}, {1024, 1024}, {1024, 1024}}, 2, 1e-3, []uintptr{1024}, [3]int{32, 16, 1}, "run_sgemm_packed"},
	{"sgemm 512, 16×16 in shared memory", "GFLOP/s", `(g, a, b, c) => {
  const ta = g.shared(f32, 16, 16), tb = g.shared(f32, 16, 16)
  const x = g.local.x, y = g.local.y
  let sum = 0
  for (let k = 0; k < 512; k += 16) {
    ta[y][x] = a[g.y][k + x]
    tb[y][x] = b[k + y][g.x]
    g.barrier()
    for (let i = 0; i < 16; i++) sum += ta[y][i] * tb[i][x]
    g.barrier()
  }
  c[g.y][g.x] = sum
}`, [3]int{512, 512, 1}, 2 * 512 * 512 * 512 / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32}, [][]int{{512, 512}, {512, 512}, {512, 512}}, 2,
		1e-3, []uintptr{512}, [3]int{16, 16, 1}, "run_sgemm"},
	{"sum 4 Mi", "GB/s", `(g, x, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) Atomics.add(out, 0, s)
}`, [3]int{16 << 10, 1, 1}, 4 * (4 << 20) / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{4 << 20}, {1}}, 1, 1e-2,
		[]uintptr{4 << 20}, [3]int{256, 1, 1}, "run_sum"},
	{"dot 4 Mi", "GB/s", `(g, x, y, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) Atomics.add(out, 0, s)
}`, [3]int{16 << 10, 1, 1}, 8 * (4 << 20) / 1e9, []ir.Type{ir.F32, ir.F32, ir.F32}, [][]int{{4 << 20}, {4 << 20}, {1}}, 2, 1e-2,
		[]uintptr{4 << 20}, [3]int{256, 1, 1}, "run_dot"},
	{"triad 4 Mi f64", "GB/s", `(g, x, y, z) => { z[g.x] = x[g.x] + 3 * y[g.x] }`, [3]int{4 << 20, 1, 1}, 24 * (4 << 20) / 1e9,
		[]ir.Type{ir.F64, ir.F64, ir.F64}, [][]int{{4 << 20}, {4 << 20}, {4 << 20}}, 2, 1e-12, []uintptr{4 << 20}, [3]int{}, "run_triad64"},
	{"transpose 4096², naive", "GB/s", `(g, from, to) => { to[g.x][g.y] = from[g.y][g.x] }`, [3]int{4096, 4096, 1},
		8 * 4096 * 4096 / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{4096, 4096}, {4096, 4096}}, 1, 1e-6, []uintptr{4096}, [3]int{}, "run_transpose"},
	{"transpose 2048², 32 × 32 tiles", "GB/s", `(g, from, to) => {
  const tile = g.shared(f32, 32, 33)
  const x = g.local.x, y = g.local.y
  for (let r = 0; r < 32; r += 8) tile[y + r][x] = from[g.group.y * 32 + y + r][g.group.x * 32 + x]
  g.barrier()
  for (let r = 0; r < 32; r += 8) to[g.group.x * 32 + y + r][g.group.y * 32 + x] = tile[x][y + r]
}`, [3]int{2048, 512, 1}, 8 * 2048 * 2048 / 1e9, []ir.Type{ir.F32, ir.F32}, [][]int{{2048, 2048}, {2048, 2048}}, 1, 1e-6,
		[]uintptr{2048}, [3]int{32, 8, 1}, "run_transpose_blocks"},
	{"blend of bytes 4 Mi", "GB/s", `(g, x, y) => { y[g.x] = (3 * x[g.x] + y[g.x] + 2) >> 2 }`, [3]int{4 << 20, 1, 1}, 3 * (4 << 20) / 1e9,
		[]ir.Type{ir.U8, ir.U8}, [][]int{{4 << 20}, {4 << 20}}, 1, 0, []uintptr{4 << 20}, [3]int{}, "run_blend"},
	{"blur of bytes 2048²", "Mpix/s", `(g, from, to) => {
  const x = g.x, y = g.y
  if (x > 0 && y > 0 && x < 2047 && y < 2047)
    to[y][x] = (4 * from[y][x] + from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x]) >> 3
}`, [3]int{2048, 2048, 1}, 2048 * 2048 / 1e6, []ir.Type{ir.U8, ir.U8}, [][]int{{2048, 2048}, {2048, 2048}}, 1, 0,
		[]uintptr{2048, 2048}, [3]int{}, "run_blur"},
	{"lookup 1 Mi", "Gelem/s", `(g, at, table, out) => { out[g.x] = table[at[g.x] & 4095] }`, [3]int{1 << 20, 1, 1}, (1 << 20) / 1e9,
		[]ir.Type{ir.I32, ir.F32, ir.F32}, [][]int{{1 << 20}, {4096}, {1 << 20}}, 2, 1e-6, []uintptr{1 << 20}, [3]int{}, "run_lookup"},
}

// kernelsOnOneCore compares kernels on one core with C by gcc -O3. It measures the processor time of this process,
// which other load affects less than elapsed time.
func kernelsOnOneCore(r *report) error {
	lib, err := buildPeers()
	if err != nil {
		return err
	}
	platform, err := cpu.New(cpu.Options{Cores: 1}).Open(context.Background())
	if err != nil {
		return err
	}
	defer platform.Close()
	for i := range workloads {
		if only := os.Getenv("OREPL_PEERS_ONLY"); !strings.HasPrefix(workloads[i].name, only) {
			continue
		}
		fn, err := purego.Dlsym(lib, workloads[i].symbol)
		if err != nil {
			return err
		}
		if err := workloads[i].compare(r, platform.Devices()[0], fn, processorTime); err != nil {
			return fmt.Errorf("%s: %w", workloads[i].name, err)
		}
	}
	return nil
}

// kernelsOnTwoCores compares kernels on two cores with C on two threads by elapsed time, which other load affects.
func kernelsOnTwoCores(r *report) error {
	lib, err := buildPeers()
	if err != nil {
		return err
	}
	platform, err := cpu.New(cpu.Options{Cores: 2, Debug: os.Getenv("OREPL_DEBUG")}).Open(context.Background())
	if err != nil {
		return err
	}
	defer platform.Close()
	threads, err := purego.Dlsym(lib, "omp_set_num_threads")
	if err != nil {
		return err
	}
	start := time.Now()
	for _, name := range []string{"saxpy", "triad", "copy", "fill", "stencil", "sum", "dot"} {
		i := slices.IndexFunc(workloads, func(w workload) bool { return w.symbol == "run_"+name })
		fn, err := purego.Dlsym(lib, "threads_"+name)
		if err != nil {
			return err
		}
		purego.SyscallN(threads, 2)
		err = workloads[i].compare(r, platform.Devices()[0], fn, func() float64 { return time.Since(start).Seconds() })
		if err != nil {
			return fmt.Errorf("%s: %w", workloads[i].name, err)
		}
	}
	return nil
}

func buildPeers() (uintptr, error) {
	dir, err := os.MkdirTemp("", "orepl-peers")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "kernels.so")
	flags := append(marchFlags(), "-O3", "-fopenmp", "-shared", "-fPIC", "-o", out, "tests/peers/c/kernels.c", "tests/peers/c/threads.c", "-lm")
	cmd := exec.Command("gcc", flags...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("gcc: %w\n%s", err, text)
	}
	return purego.Dlopen(out, purego.RTLD_NOW)
}

// processorTime returns the processor time of this process in seconds.
func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// prepared is a workload on a device.
type prepared struct {
	launch  offload.Launch
	buffers []offload.Memory
	queue   offload.Queue
	run     func() error // launches and waits
	close   func()
}

// prepare compiles a workload and fills its buffers.
func (w *workload) prepare(dev offload.Device) (_ *prepared, err error) {
	ctx := context.Background()
	f, err := kernel.Parse(&kernel.Source{Text: w.text})
	if err != nil {
		return nil, err
	}
	var args []kernel.Arg
	for i, t := range w.buffers {
		args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: len(w.dims[i])})
	}
	c, err := f.Compile(args, kernel.Options{Name: "k"})
	if err != nil {
		return nil, err
	}
	data, err := c.Module.MarshalBinary()
	if err != nil {
		return nil, err
	}
	program, err := dev.Load(ctx, &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		return nil, err
	}
	k, err := program.Kernel("k")
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(offload.QueueOptions{})
	if err != nil {
		return nil, err
	}
	p := &prepared{queue: q, launch: offload.Launch{Kernel: k, Size: w.size, GroupSize: w.group}}
	p.close = func() {
		q.Close()
		program.Unload()
		for _, m := range p.buffers {
			m.Free()
		}
	}
	p.run = func() error {
		if err := q.Launch(&p.launch); err != nil {
			return err
		}
		return q.Sync(ctx)
	}
	for i, t := range w.buffers {
		arg := offload.Arg{}
		arg.Type, _ = offload.ParseType(t.String())
		for axis, d := range w.dims[i] {
			arg.Dims[axis] = int32(d)
		}
		if arg.Memory, err = w.buffer(dev, i); err != nil {
			p.close()
			return nil, err
		}
		if arg.Memory.Bytes() == nil { // the host has no access
			data := w.contents(i)
			if err := errors.Join(q.Submit(offload.Span{Memory: arg.Memory, Size: int64(len(data))}, data), q.Sync(ctx)); err != nil {
				p.close()
				return nil, err
			}
		}
		p.buffers = append(p.buffers, arg.Memory)
		p.launch.Args = append(p.launch.Args, arg)
	}
	return p, nil
}

// buffer allocates buffer i on a device, and fills it if the host can access its memory.
func (w *workload) buffer(dev offload.Device, i int) (offload.Memory, error) {
	data := w.contents(i)
	m, err := dev.Allocate(int64(len(data)), offload.DeviceMemory)
	if err == nil {
		copy(m.Bytes(), data)
	}
	return m, err
}

// contents returns the bytes of buffer i. A buffer of a single float, such as a sum, is 0.
func (w *workload) contents(i int) []byte {
	t := w.buffers[i]
	n := 1
	for _, d := range w.dims[i] {
		n *= d
	}
	b := make([]byte, n*t.Size())
	for at := range n {
		x := uint32(4*at*2654435761>>8) % 1000
		if n == 1 {
			x = 500
		}
		switch f := float64(x)/500 - 1; t {
		case ir.F64:
			binary.LittleEndian.PutUint64(b[8*at:], math.Float64bits(f))
		case ir.F32:
			binary.LittleEndian.PutUint32(b[4*at:], math.Float32bits(float32(f)))
		case ir.U8:
			b[at] = byte(x)
		default:
			binary.LittleEndian.PutUint32(b[4*at:], x)
		}
	}
	return b
}

// eachWorkload compares the workloads whose names begin with OREPL_PEERS_ONLY, by default all. It prints errors of compare, and
// for two or more workloads the geometric mean of their ratios and the least ratio. compare returns the ratios without and with
// checks.
func eachWorkload(compare func(w *workload) (ratios [2]float64, err error)) {
	logs, least, n := [2]float64{}, [2]float64{math.Inf(1), math.Inf(1)}, 0
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		ratios, err := compare(w)
		if err != nil {
			fmt.Printf("  %s: %v\n", w.name, err)
			continue
		}
		n++
		for i, ratio := range ratios {
			logs[i], least[i] = logs[i]+math.Log(ratio), min(least[i], ratio)
		}
	}
	if n > 1 {
		fmt.Printf("  of %d kernels: geometric mean %.2f, least %.2f without checks; %.2f and %.2f with checks\n", n,
			math.Exp(logs[0]/float64(n)), least[0], math.Exp(logs[1]/float64(n)), least[1])
	}
}

// rate returns a measurement of the rate of run, which runs the workload once: w.work per second of this process's processor time.
func (w *workload) rate(run func() error) func() (float64, error) {
	return w.rateBy(processorTime, run)
}

func (w *workload) rateBy(clock func() float64, run func() error) func() (float64, error) {
	return func() (float64, error) {
		// The first run is not measured, and short functions run repeatedly. Caches are then in their usual state rather than
		// as the other side left them.
		if err := run(); err != nil {
			return 0, err
		}
		const least = 0.015
		start := clock()
		for times := 1; ; times++ {
			if err := run(); err != nil {
				return 0, err
			}
			if elapsed := clock() - start; times >= 3 && elapsed > least {
				return w.work * float64(times) / elapsed, nil
			}
		}
	}
}

func (w *workload) compare(r *report, dev offload.Device, fn uintptr, clock func() float64) error {
	p, err := w.prepare(dev)
	if err != nil {
		return err
	}
	defer p.close()
	call := append([]uintptr(nil), w.scalars...)
	var others []offload.Memory // arguments of the C function
	for i := range w.buffers {
		m, err := w.buffer(dev, i)
		if err != nil {
			return err
		}
		defer m.Free()
		others = append(others, m)
		call = append(call, uintptr(unsafe.Pointer(&m.Bytes()[0])))
	}
	native := func() error { purego.SyscallN(fn, call...); return nil }
	if err := p.run(); err != nil {
		return err
	}
	native()
	if err := w.agree(p.buffers[w.result].Bytes(), others[w.result].Bytes()); err != nil {
		return err
	}
	// Both sides use the same memory in turn, since placement and cache contents affect speed.
	spare := slices.Clone(others)
	runs := 0
	turn := func(rate func() (float64, error)) func() (float64, error) {
		return func() (float64, error) {
			if runs++; runs%2 == 1 {
				for i := range others {
					others[i] = [2]offload.Memory{p.buffers[i], spare[i]}[runs/2%2]
					p.launch.Args[i].Memory = others[i]
					call[len(w.scalars)+i] = uintptr(unsafe.Pointer(&others[i].Bytes()[0]))
				}
			}
			return rate()
		}
	}
	_, err = r.pair(w.name, w.unit, 15, turn(w.rateBy(clock, p.run)), turn(w.rateBy(clock, native)))
	return err
}

// agree returns an error unless the results of both sides agree within the tolerance.
func (w *workload) agree(a, b []byte) error {
	different := 0
	size := w.buffers[w.result].Size()
	for at := 0; at < len(a); at += size {
		var p, q float64
		switch {
		case size == 1:
			p, q = float64(a[at]), float64(b[at])
		case size == 8:
			p = math.Float64frombits(binary.LittleEndian.Uint64(a[at:]))
			q = math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
		case w.tolerance == 0:
			if binary.LittleEndian.Uint32(a[at:]) != binary.LittleEndian.Uint32(b[at:]) {
				different++
			}
			continue
		default:
			p = float64(math.Float32frombits(binary.LittleEndian.Uint32(a[at:])))
			q = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:])))
		}
		if math.Abs(p-q) > w.tolerance*max(1, math.Abs(p), math.Abs(q)) {
			return fmt.Errorf("element %d is %v, and %v in C", at/size, p, q)
		}
	}
	if different*100 > len(a)/4 {
		return fmt.Errorf("%d of %d elements differ", different, len(a)/4)
	}
	return nil
}
