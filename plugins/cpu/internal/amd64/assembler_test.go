package amd64

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orepl/orepl/tests/allocs"
)

// emitLoop emits the body of a typical vector loop.
func emitLoop(a *Assembler) {
	loop := a.NewLabel()
	a.Bind(loop)
	a.Emit(VMOVUPS, Z(1).Zero(K1), Mem{Base: RSI, Index: RCX, Scale: 4, Disp: 256})
	a.Emit(VFMADD231PS, Z(17), Z(1), Mem{Base: RDI, Disp: 4, Broadcast: true})
	a.Emit(VADDPS, Y(1), Y(2), Y(3))
	a.Emit(VMOVUPS, Mem{Base: RSI, Index: RCX, Scale: 4, Mask: K1}, Z(1))
	a.Emit(ADD, RCX, Imm(16))
	a.Emit(CMP, RCX, RDX)
	a.Emit(KORTESTW, K1, K1)
	a.Emit(JL, loop)
}

func TestEmitDoesNotAllocate(t *testing.T) {
	a := New(AllFeatures)
	for range 100 {
		emitLoop(a)
	}
	n := allocs.PerRun(100, func() {
		a.Reset(AllFeatures)
		for range 100 {
			emitLoop(a)
		}
	})
	if n != 0 {
		t.Errorf("800 instructions: %v allocations", n)
	}
	if a.Err() != nil {
		t.Error(a.Err())
	}
}

// TestByOperands checks that Begin to End emit the code and report the errors of Emit, without allocating memory operands.
func TestByOperands(t *testing.T) {
	m := Mem{Base: RSI, Index: RCX, Scale: 4, Disp: 256}
	lines := func(a *Assembler) {
		back := a.NewLabel()
		a.Bind(back)
		a.Begin(VADDPS)
		a.Reg(Z(17).Merge(K1))
		a.Reg(Z(12))
		a.Mem(&m)
		a.End()
		a.Begin(ADD)
		a.Mem(&m)
		a.Reg(EDX)
		a.Prefix(Lock)
		a.End()
		a.Begin(CMP)
		a.Reg(RDX)
		a.Imm(1000)
		a.End()
		a.Begin(JL)
		a.Label(back)
		a.End()
	}
	a, b := New(AllFeatures), New(AllFeatures)
	lines(a)
	back := b.NewLabel()
	b.Bind(back)
	b.Emit(VADDPS, Z(17).Merge(K1), Z(12), m)
	b.Emit(ADD, m, EDX, Lock)
	b.Emit(CMP, RDX, Imm(1000))
	b.Emit(JL, back)
	got, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("% x, and by Emit % x", got, want)
	}
	if n := allocs.PerRun(100, func() { a.Reset(AllFeatures); lines(a) }); n != 0 {
		t.Errorf("four instructions: %v allocations", n)
	}

	a.Reset(AllFeatures)
	a.Begin(VADDPS)
	a.Reg(Z(1))
	a.Reg(Reg(0))
	a.Reg(Z(2)) // operands after a wrong one are not reported
	a.End()
	b.Reset(AllFeatures)
	b.Emit(VADDPS, Z(1), Reg(0), Z(2))
	if a.Err() == nil || b.Err() == nil || a.Err().Error() != b.Err().Error() {
		t.Errorf("%v, and by Emit %v", a.Err(), b.Err())
	}
}

func BenchmarkEmit(b *testing.B) {
	a := New(AllFeatures)
	for b.Loop() {
		a.Reset(AllFeatures)
		for range 100 {
			emitLoop(a)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/800, "ns/instruction")
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		op   Op
		args []Operand
		want string
	}{
		{VADDPS, []Operand{Z(1), Z(2), Y(3)}, "vaddps zmm1, zmm2, ymm3: operand 3 must be zmm, m512, a broadcast"},
		{VADDPS, []Operand{Z(1), Z(2)}, "an operand is missing"},
		{VADDPS, []Operand{Z(32), Z(2), Z(3)}, "operand 1: invalid register"},
		{VADDPS, []Operand{Z(1), Z(2).Merge(K1), Z(3)}, "operand 2: a write mask belongs on the destination"},
		{VADDPS, []Operand{Z(1).Merge(K0), Z(2), Z(3)}, "invalid register"},
		{VADDPS, []Operand{Y(1), Y(2), Y(3), RoundUp}, "takes no {ru-sae} with these operands"},
		{ADD, []Operand{Mem{Base: RAX}, Imm(1)}, "needs a size"},
		{ADD, []Operand{RAX, Imm(1 << 40)}, "operand 2 must be"},
		{ADD, []Operand{RAX, RCX, Lock}, "takes no lock prefix"},
		{ADD, []Operand{RAX, RCX, RDX}, "operand 3 must be left out"},
		{ADD, []Operand{RAX, Mem{Base: EAX}}, "the base of an address must be a 64-bit register"},
		{ADD, []Operand{RAX, Mem{Base: RAX, Index: RSP}}, "the index of an address must be"},
		{ADD, []Operand{RAX, Mem{Base: RAX, Index: RCX, Scale: 3}}, "scale"},
		{ADD, []Operand{RAX, nil}, "nil operand"},
		{ADD, []Operand{RAX, Reg(0)}, "no register"},
		{JMP, []Operand{Label(7)}, "label 7 is not of this assembler"},
		{0, nil, "unknown instruction"},
		{numOps + 5, nil, "unknown instruction"},
	} {
		a := New(AllFeatures)
		a.Emit(c.op, c.args...)
		a.Emit(RET)
		if _, err := a.Finish(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.op, c.args, err, c.want)
		}
	}
}

func TestFeatures(t *testing.T) {
	a := New(ForAVX2)
	a.Emit(VADDPS, Y(1), Y(2), Y(3))
	if a.Err() != nil {
		t.Fatal(a.Err())
	}
	a.Emit(VADDPS, Y(1), Y(2), Y(16))
	if a.Err() == nil || !strings.Contains(a.Err().Error(), "needs AVX512") {
		t.Error(a.Err())
	}
}

// TestBranches binds targets at the limits of the short form and compares the code with GNU as.
func TestBranches(t *testing.T) {
	for _, gap := range []int{0, 1, 120, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 300} {
		a := New(AllFeatures)
		a.StartListing()
		back, forward, far := a.NewLabel(), a.NewLabel(), a.NewLabel()
		a.Bind(back)
		a.Emit(JMP, forward)
		a.Emit(JNE, far)
		for range gap {
			a.Emit(NOP)
		}
		a.Emit(JB, back)
		a.Bind(forward)
		a.Emit(LEA, RAX, Mem{Label: forward, Disp: 8})
		a.Emit(VADDPS, Z(1), Z(2), a.Const(bytes.Repeat([]byte{1}, 64), 64).mem())
		a.Emit(CMP, Mem{Label: back, Size: 4}, Imm(1000))
		a.Emit(VADDPS, X(1), X(2), a.Const32(7))
		a.Emit(JMP, back)
		a.Emit(CALL, far)
		a.Bind(far)
		a.Emit(RET)
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if theirs := gas(t, []byte(a.Listing())); !bytes.Equal(code, theirs) {
			t.Errorf("gap %d:\n% x\nGNU as:\n% x", gap, code, theirs)
		}
	}
}

func (l Label) mem() Mem { return Mem{Label: l} }

// TestConditions compares every branch, short and near, with GNU as.
func TestConditions(t *testing.T) {
	a := New(0)
	a.StartListing()
	near, far := a.NewLabel(), a.NewLabel()
	for op := Op(1); op < numOps; op++ {
		if op.forms()[0].lay == rel {
			a.Emit(op, near)
			a.Emit(op, far)
		}
	}
	a.Bind(near)
	for range 200 {
		a.Emit(NOP)
	}
	a.Bind(far)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if theirs := gas(t, []byte(a.Listing())); !bytes.Equal(code, theirs) {
		t.Errorf("% x\nGNU as:\n% x", code, theirs)
	}
}
