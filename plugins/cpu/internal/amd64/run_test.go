//go:build linux

package amd64

import (
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/plugins/internal/process"
)

// arguments is the argument struct, which rdi points to.
type arguments struct {
	x, y unsafe.Pointer
	n    int64
}

// run runs the code on this machine.
func run(t *testing.T, a *Assembler, arg *arguments) error {
	t.Helper()
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	c, err := process.NewCode(code)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Free(); err != nil {
			t.Error(err)
		}
	}()
	return call(t, c, unsafe.Pointer(arg))
}

// call runs the code under a guard.
func call(t *testing.T, c *process.Code, arg unsafe.Pointer) error {
	t.Helper()
	g, err := process.NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	return g.Call(c.Entry(0), arg)
}

func need(t *testing.T, f Features) {
	t.Helper()
	if missing := f &^ Host(); missing != 0 || !process.Supported() {
		t.Skipf("this machine has no %v", missing)
	}
}

// TestRun runs y[i] += 3*x[i] over n elements with a masked remainder, on AVX2 and on AVX-512.
func TestRun(t *testing.T) {
	const x, y, n, i = RSI, RDX, RCX, RAX
	for name, emit := range map[string]func(a *Assembler) Features{
		"AVX2": func(a *Assembler) Features {
			loop, tail, done := a.NewLabel(), a.NewLabel(), a.NewLabel()
			three := a.Const32(math.Float32bits(3))
			a.Emit(VBROADCASTSS, Y(9), three)
			a.Emit(XOR, EAX, EAX)
			a.Align(32)
			a.Bind(loop)
			a.Emit(LEA, R8, Mem{Base: i, Disp: 8})
			a.Emit(CMP, R8, n)
			a.Emit(JG, tail)
			a.Emit(VMOVUPS, Y(1), Mem{Base: y, Index: i, Scale: 4})
			a.Emit(VFMADD231PS, Y(1), Y(9), Mem{Base: x, Index: i, Scale: 4})
			a.Emit(VMOVUPS, Mem{Base: y, Index: i, Scale: 4}, Y(1))
			a.Emit(MOV, i, R8)
			a.Emit(JMP, loop)
			a.Bind(tail)
			a.Emit(CMP, i, n)
			a.Emit(JGE, done)
			a.Emit(VMOVSS, X(1), Mem{Base: y, Index: i, Scale: 4})
			a.Emit(VFMADD231SS, X(1), X(9), Mem{Base: x, Index: i, Scale: 4})
			a.Emit(VMOVSS, Mem{Base: y, Index: i, Scale: 4}, X(1))
			a.Emit(INC, i)
			a.Emit(JMP, tail)
			a.Bind(done)
			return ForAVX2
		},
		"AVX512": func(a *Assembler) Features {
			loop, done := a.NewLabel(), a.NewLabel()
			three := a.Const32(math.Float32bits(3))
			three.Broadcast = true
			a.Emit(XOR, EAX, EAX)
			a.Bind(loop)
			a.Emit(MOV, R8, n)
			a.Emit(SUB, R8, i)
			a.Emit(JLE, done)
			a.Emit(CMP, R8, Imm(16))
			a.MoveImm(R9, 16)
			a.Emit(CMOVG, R8, R9)
			a.MoveImm(R9, 0xFFFF)
			a.Emit(BZHI, R9D, R9D, R8D)
			a.Emit(KMOVW, K3, R9D)
			a.Emit(VMOVUPS, Z(17).Zero(K3), Mem{Base: x, Index: i, Scale: 4})
			a.Emit(VMULPS, Z(17), Z(17), three)
			a.Emit(VADDPS, Z(18).Zero(K3), Z(17), Mem{Base: y, Index: i, Scale: 4})
			a.Emit(VMOVUPS, Mem{Base: y, Index: i, Scale: 4, Mask: K3}, Z(18))
			a.Emit(ADD, i, Imm(16))
			a.Emit(JMP, loop)
			a.Bind(done)
			return ForAVX512
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, count := range []int{0, 1, 7, 8, 16, 31, 100} {
				a := New(AllFeatures)
				a.Emit(MOV, x, Mem{Base: RDI})
				a.Emit(MOV, y, Mem{Base: RDI, Disp: 8})
				a.Emit(MOV, n, Mem{Base: RDI, Disp: 16})
				need(t, emit(a))
				a.Emit(VZEROUPPER)
				a.Emit(RET)
				xs, ys := make([]float32, count+1), make([]float32, count+1)
				for j := range xs {
					xs[j], ys[j] = float32(j), 0.5
				}
				if err := run(t, a, &arguments{unsafe.Pointer(&xs[0]), unsafe.Pointer(&ys[0]), int64(count)}); err != nil {
					t.Fatal(err)
				}
				for j := range count {
					if ys[j] != 0.5+3*float32(j) {
						t.Fatalf("%d: y[%d] = %v", count, j, ys[j])
					}
				}
				if ys[count] != 0.5 {
					t.Errorf("%d: written after the end", count)
				}
			}
		})
	}
}

// TestFaultOffset finds the faulting instruction by its label.
func TestFaultOffset(t *testing.T) {
	need(t, 0)
	a := New(0)
	here := a.NewLabel()
	a.Emit(XOR, EAX, EAX)
	a.Emit(JE, here)
	a.Emit(UD2)
	a.Bind(here)
	a.Emit(MOV, RAX, Mem{Base: RAX})
	a.Emit(RET)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	c, err := process.NewCode(code)
	if err != nil {
		t.Fatal(err)
	}
	var fault *process.Fault
	if err := call(t, c, nil); !errors.As(err, &fault) {
		t.Fatal(err)
	}
	want, _ := a.Offset(here)
	if got, ok := c.Offset(fault.PC); !ok || got != want {
		t.Errorf("offset %d, want %d", got, want)
	}
	if err := c.Free(); err != nil {
		t.Error(err)
	}
}

// TestMoveImm checks values and lengths of the shortest move.
func TestMoveImm(t *testing.T) {
	for _, c := range []struct {
		value int64
		size  int
	}{{0, 5}, {1, 5}, {1<<32 - 1, 5}, {-1, 7}, {math.MinInt32, 7}, {1 << 32, 10}, {math.MinInt64, 10}} {
		a := New(0)
		a.MoveImm(RAX, c.value)
		a.Emit(MOV, Mem{Base: RDI, Disp: 16}, RAX)
		a.Emit(RET)
		if len(a.code) != c.size+5 {
			t.Errorf("%d: %d bytes, want %d", c.value, len(a.code)-5, c.size)
		}
		if process.Supported() {
			var arg arguments
			if err := run(t, a, &arg); err != nil || arg.n != c.value {
				t.Errorf("%d: %d, %v", c.value, arg.n, err)
			}
		}
	}
}
