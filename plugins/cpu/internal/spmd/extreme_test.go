//go:build linux

package spmd

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"golang.org/x/sys/unix"
)

// Tests of sizes, indices and groups at the limits at which 32 bits wrap.

// extreme is a kernel with the arguments of a launch.
type extreme struct {
	program *Program
	launch  interp.Launch
}

func buffer(elem ir.Type, rank int) kernel.Arg {
	return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: elem}, Rank: rank}
}

func compileExtreme(t *testing.T, target *vcode.Target, text string, size, group [3]int, params ...kernel.Arg) *extreme {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Compile(params, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Module.Clone()
	opt.Run(m, opt.Default, nil)
	p, err := Compile(m.Kernels[0], plan.Options{Features: target.Features})
	if err != nil {
		t.Fatal(err)
	}
	return &extreme{p, interp.Launch{Size: size, GroupSize: group, SubgroupSize: 32}}
}

func (x *extreme) bind(base unsafe.Pointer, elem int, dims ...int) {
	arg := interp.Arg{Base: base, Bytes: elem}
	for i, d := range dims {
		arg.Dims[i] = int32(d)
		arg.Bytes *= d
	}
	x.launch.Args = append(x.launch.Args, arg)
}

// run runs the units from first to last. Negative numbers count from the end.
func (x *extreme) run(t *testing.T, first, last int) {
	t.Helper()
	v, units, err := x.program.Prepare(&x.launch)
	if err != nil {
		t.Fatal(err)
	}
	if first < 0 {
		first, last = units+first, units+last
	}
	w := v.Acquire(&x.launch)
	defer v.Release(w)
	if fault, err := w.Run(first, last, false); fault != nil || err != nil {
		t.Fatal(fault, err)
	}
}

// reserve returns n bytes of address space. Pages use memory only after a write, and the limit of the process's data
// does not include them.
func reserve(t *testing.T, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

// TestFlatIndexOf32Bits checks that an index of 2^31 or more into all elements addresses memory after the buffer's
// first 2 GiB, never before the buffer.
func TestFlatIndexOf32Bits(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		x := compileExtreme(t, target, `(g, x, n) => { x.flat[n] = 7 }`, [3]int{1, 1, 1}, [3]int{1, 1, 1}, buffer(ir.U8, 2), kernel.Arg{Kind: kernel.Scalar, Type: ir.U32})
		const rows, columns = 60000, 40000
		x.bind(unsafe.Pointer(&reserve(t, rows*columns)[0]), 1, rows, columns)
		x.launch.Args = append(x.launch.Args, interp.Arg{Bits: 2200000000})
		if _, _, err := x.program.Prepare(&x.launch); !errors.Is(err, ErrTooLarge) {
			t.Errorf("the code takes a buffer that it cannot address: %v", err)
		}
	})
}

// TestChainOfConstants checks that constants moved from an index into a displacement do not let the rest wrap.
func TestChainOfConstants(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		x := compileExtreme(t, target, `(g, x, n) => {
  const a = (n + 200000) | 0, b = (a - 65000) | 0, c = (b - 65001) | 0, d = (c - 65002) | 0
  x[d] = 7
}`, [3]int{1, 1, 1}, [3]int{1, 1, 1}, buffer(ir.U8, 1), kernel.Arg{Kind: kernel.Scalar, Type: ir.I32})
		const before, size = 1 << 32, maxExtent
		memory := reserve(t, before+size)
		x.bind(unsafe.Pointer(&memory[before]), 1, size)
		n := size - 5000
		x.launch.Args = append(x.launch.Args, interp.Arg{Bits: uint64(n)})
		x.run(t, 0, 1)
		if at := n + 4997; memory[before+at] != 7 || memory[at] != 0 {
			t.Errorf("stored %d in the place and %d in that 4 GiB before it", memory[before+at], memory[at])
		}
	})
}

// TestLastGroupOfTheLongestLaunch checks that items beyond the size have no effect if their position exceeds 2^31.
func TestLastGroupOfTheLongestLaunch(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		x := compileExtreme(t, target, `(g, x) => {
  const s = g.shared(i32, 7)
  s[g.y % 7] = 5
  g.barrier()
  if (g.y < 0) x[0] = g.y
  x[1] = 1
}`, [3]int{1, 1<<31 - 1, 1}, [3]int{1, 3, 1}, buffer(ir.I32, 1))
		var data [2]int32
		x.bind(unsafe.Pointer(&data[0]), 4, len(data))
		x.run(t, -1, 0)
		if data != [2]int32{0, 1} {
			t.Errorf("got %d", data)
		}
	})
}

// TestColumnsOfTheWidestLaunch checks that gangs that traverse columns reach the next band after the last column if its
// position exceeds 2^31.
func TestColumnsOfTheWidestLaunch(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		const rows = 64
		x := compileExtreme(t, target, `(g, x, y) => { if (g.x < 64) y[g.x][g.y] = x[g.y][g.x] + 1 }`, [3]int{1<<31 - 1, rows, 1}, [3]int{16, 16, 1},
			buffer(ir.I32, 2), buffer(ir.I32, 2))
		var from, to [64 * rows]int32
		x.bind(unsafe.Pointer(&from[0]), 4, rows, 64)
		x.bind(unsafe.Pointer(&to[0]), 4, 64, rows)
		v, units, err := x.program.Prepare(&x.launch)
		if err != nil {
			t.Fatal(err)
		}
		band := v.Code.Band
		if band == 0 || band >= rows {
			t.Fatalf("bands of %d rows: the kernel does not show what it should", band)
		}
		end := units / rows * band // the first unit of the second band
		x.run(t, end-3*band, end+8*band)
		for i, got := range to[band : 2*band] {
			if got != 1 {
				t.Fatalf("row %d of the second band: got %d", i, got)
			}
		}
	})
}

// TestFramesAreBounded checks that the compiler rejects groups whose gangs exceed the memory of a worker.
func TestFramesAreBounded(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		x := compileExtreme(t, target, `(g, x) => {
  const a = g.private(i32, 16000), b = g.private(i32, 16000)
  for (let i = 0; i < x[0]; i++) { a[x[i]] = i; b[x[i]] = i }
  g.barrier()
  x[g.y] = a[x[1]] + b[x[2]]
}`, [3]int{1, 1024, 1}, [3]int{1, 1024, 1}, buffer(ir.I32, 1))
		var data [1024]int32
		x.bind(unsafe.Pointer(&data[0]), 4, len(data))
		if _, _, err := x.program.Prepare(&x.launch); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		x.launch.GroupSize = [3]int{1, 4, 1}
		x.run(t, 0, 256)
	})
}

// TestStoresOfColumnsAreSeen checks that an item reads its own stores through another argument with the same buffer.
func TestStoresOfColumnsAreSeen(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		const n = 64
		x := compileExtreme(t, target, `(g, x, y, z) => { y[g.x][g.y] = g.x * 100 + g.y + 1; z[g.y][g.x] = x[g.x][g.y] }`, [3]int{n, n, 1}, [3]int{16, 16, 1},
			buffer(ir.I32, 2), buffer(ir.I32, 2), buffer(ir.I32, 2))
		var y, z [n * n]int32
		for _, b := range []*int32{&y[0], &y[0], &z[0]} {
			x.bind(unsafe.Pointer(b), 4, n, n)
		}
		_, units, err := x.program.Prepare(&x.launch)
		if err != nil {
			t.Fatal(err)
		}
		x.run(t, 0, units)
		for i, got := range z {
			if want := int32(i%n*100 + i/n + 1); got != want {
				t.Fatalf("item %d, %d: got %d, want %d", i%n, i/n, got, want)
			}
		}
	})
}
