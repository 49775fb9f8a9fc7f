package amd64

import (
	"flag"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/tests/golden"
)

var update = flag.Bool("update", false, "write what is refused, and why, into testdata")

// toldOps are instructions that cover all encodings, widths and modifiers of the tables.
var toldOps = []Op{NOP, ADD, MOV, SHL, IMUL, XCHG, LEA, PUSH, JMP, BT, MOVZX, ANDN, POPCNT, VADDPS, VADDSD, VFMADD231PS, VMOVUPS,
	VPGATHERDD, VPSCATTERDD, VPCMPD, VPTERNLOGD, VCVTTPS2DQ, KANDW, KMOVW, VPMOVDB, VPERMD, VPERMB, VPMADD52LUQ, VPOPCNTD, PREFETCHNTA}

// TestRefusals compares error messages of wrong instructions with a golden file. It has each distinct message of toldOps,
// and the number and checksum of messages of other operations.
func TestRefusals(t *testing.T) {
	var out strings.Builder
	said := map[string]bool{} // messages of an instruction, or of an operand of any instruction
	for _, op := range toldOps {
		fmt.Fprintf(&out, "# %s\n", op)
		refusals(op, 13, func(text string) {
			problem, general := strings.CutPrefix(text, op.String()+": operand ")
			if !said[text] && !(general && said[problem]) {
				said[text], said[problem] = true, true
				fmt.Fprintln(&out, text)
			}
		})
	}
	fmt.Fprintln(&out, "# others")
	for op := Op(1); op < numOps; op++ {
		if slices.Contains(toldOps, op) {
			continue
		}
		n, sum := 0, crc32.NewIEEE()
		refusals(op, 61, func(text string) {
			n++
			_, _ = sum.Write([]byte(text))
		})
		fmt.Fprintf(&out, "%s: %d, %08x\n", op, n, sum.Sum32())
	}
	golden.Compare(t, "testdata/refusals.txt", out.String(), *update)
}

// refusals calls tell with the error messages of the operation's wrong instructions, which differ from valid ones in one
// operand. stride selects the valid ones.
func refusals(op Op, stride int, tell func(text string)) {
	wrong := []Operand{GPR(9, 1), GPR(3, 2), EDX, R11, X(3), Y(19), Z(2), K3, Z(1).Zero(K2), X(4).Merge(K1), Reg(0), Z(32),
		Imm(-129), Imm(-128), Imm(255), Imm(256), Imm(-32769), Imm(65536), Imm(1<<32 - 1), Imm(1 << 32),
		Mem{Base: RAX}, Mem{Base: RAX, Size: 2}, Mem{Base: RBX, Size: 3}, Mem{Index: Y(4), Scale: 4}, Mem{Base: RCX, Size: 4, Broadcast: true},
		Mem{Base: RCX, Size: 64, Mask: K4}, Mem{Base: RAX, Mask: K0}, Mem{Label: 1, Base: RAX}, Label(0), nil}
	a := New(0)
	try := func(features Features, args ...Operand) {
		a.Reset(features)
		a.NewLabel()
		a.Emit(op, args...)
		if a.Err() != nil {
			tell(strings.TrimPrefix(a.Err().Error(), "amd64: after 0 instructions: "))
		}
	}
	g := generator{stride: stride}
	for i := range op.forms() {
		g.form(&op.forms()[i])
	}
	if len(g.samples) == 0 {
		try(AllFeatures, RAX)
		return
	}
	args := g.samples[len(g.samples)/3].args
	if r := len(args) - 1; r >= 0 {
		switch args[r].(type) {
		case Rounding, Prefix:
			args = args[:r]
		}
	}
	for _, features := range []Features{0, SSE41, ForAVX2, ForAVX512, AllFeatures &^ AVX512, AllFeatures &^ evexFeatures} {
		try(features, args...)
		for _, more := range []Operand{RoundUp, SAE, Lock} {
			try(features, append(args[:len(args):len(args)], more)...)
		}
	}
	if len(args) > 0 {
		try(AllFeatures, masked(args, 2, false)...)
		try(AllFeatures, masked(args, 2, true)...)
	}
	for j := range args {
		for i, w := range wrong {
			_, had := args[j].(Imm)
			if _, has := w.(Imm); has && !had && i%4 > 0 { // one wrong immediate suffices
				continue
			}
			changed := append([]Operand(nil), args...)
			changed[j] = w
			try(AllFeatures, changed...)
		}
	}
	for _, more := range []Operand{RAX, Z(1), Imm(1), K1, RoundUp, SAE, Lock} {
		try(AllFeatures, append(append([]Operand(nil), args...), more)...)
	}
	if len(args) > 0 {
		try(AllFeatures, args[:len(args)-1]...)
		try(AllFeatures, append(args[:len(args):len(args)], Z(1), Z(2), Z(3), Z(4))...)
	}
}

// TestSizes converts every register to every size.
func TestSizes(t *testing.T) {
	for n := range 32 {
		for _, r := range []Reg{GPR(n%16, 1), GPR(n%16, 2), GPR(n%16, 4), GPR(n%16, 8), X(n), Y(n), Z(n), K(n % 8), 0} {
			for size := -1; size <= 70; size++ {
				want := regInvalid
				switch size {
				case 1, 2, 4, 8:
					if r.IsGPR() {
						want = GPR(n%16, size)
					}
				case 16, 32, 64:
					if r.IsVec() {
						want = map[int]Reg{16: X(n), 32: Y(n), 64: Z(n)}[size]
					}
				}
				got := r.As(size)
				if got != want && (got.valid() || want.valid()) {
					t.Errorf("%v as %d bytes: %v, want %v", r, size, got, want)
				}
				if got.valid() && (got.Bytes() != size || got.Num() != r.Num()) {
					t.Errorf("%v as %d bytes: number %d of %d bytes", r, size, got.Num(), got.Bytes())
				}
			}
		}
	}
	for _, r := range []Reg{GPR(16, 8), GPR(-1, 8), GPR(0, 3), X(32), X(-1), Y(32), Z(32), Z(-1), K(8), K(-1)} {
		if r.valid() {
			t.Errorf("%v is no register", r)
		}
	}
}
