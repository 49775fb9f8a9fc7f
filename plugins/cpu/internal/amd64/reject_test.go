package amd64

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRejectedByGas checks that GNU as rejects the instructions that this package rejects. They are valid instructions with
// one operand or modifier changed.
func TestRejectedByGas(t *testing.T) {
	as, err := exec.LookPath("as")
	if err != nil {
		t.Skip("GNU as (binutils) is not installed: refusals are not compared")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	text.WriteString("\t.intel_syntax noprefix\n")
	var lines []string
	for op := Op(1); op < numOps; op++ {
		for i := range op.forms() {
			g := generator{stride: 61}
			g.form(&op.forms()[i])
			for _, s := range g.samples[:min(len(g.samples), 60)] {
				args := mutate(rng, s.args)
				var in instruction
				if in.set(op, args) != "" || in.match(AllFeatures) || in.laxInGas() {
					continue
				}
				in.form = nil
				lines = append(lines, in.String())
				fmt.Fprintln(&text, in.String())
			}
		}
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "x.s")
	if err := os.WriteFile(source, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(as, "-o", filepath.Join(dir, "x.o"), source).CombinedOutput()
	refused := make([]bool, len(lines)+2)
	for l := range strings.Lines(string(out)) {
		var n int
		if _, rest, ok := strings.Cut(l, "x.s:"); ok {
			fmt.Sscanf(rest, "%d:", &n)
		}
		if n > 0 && n < len(refused) && strings.Contains(l, "Error") {
			refused[n] = true
		}
	}
	bad := 0
	for i, l := range lines {
		if !refused[i+2] {
			if bad++; bad < 40 {
				t.Errorf("refused here, not by GNU as: %s", l)
			}
		}
	}
	t.Logf("%d refusals compared, %d differ", len(lines), bad)
}

// laxInGas reports whether GNU as accepts an instruction that this package rejects by design: GNU as truncates or ignores a
// part of it, or the form is redundant.
func (in *instruction) laxInGas() bool {
	last := &in.args[max(in.n-1, 0)]
	switch {
	case last == in.value && last.kind&kImmS == 0: // cut to the size of the operand
		return true
	case in.lock && in.op == XCHG: // locked by itself
		return true
	case in.rounding != 0 && (in.n == 0 || in.memory != nil): // ignored
		return true
	case in.memory != nil && in.memory.kind&(kIndexX|kIndexY|kIndexZ) != 0 && !in.areDistinct(): // GNU as only warns
		return true
	case in.memory != nil && in.memory.mem.Size == 32 && in.op == VCVTTPS2DQ: // taken for xmmword
		return true
	}
	switch in.op {
	case ROL, ROR, RCL, RCR, SHL, SHR, SAR, SHLD, SHRD: // cl by another name
		return last.reg&31 == 1
	case MOVZX, MOVSX, MOVSXD, PUSH, POP, JMP, CALL: // 16 bits
		return true
	case VMOVMSKPS, VMOVMSKPD, VPMOVMSKB, VPEXTRB, VPEXTRW, VEXTRACTPS, VPINSRB, VPINSRW: // 64-bit names for 32 bits
		return true
	case PREFETCHNTA, PREFETCHT0, PREFETCHT1, PREFETCHT2, PREFETCHW, CLFLUSH, LEA: // any size
		return true
	}
	return false
}

// mutate changes one operand or modifier.
func mutate(rng *rand.Rand, args []Operand) []Operand {
	args = append([]Operand(nil), args...)
	if len(args) == 0 || rng.IntN(8) == 0 {
		return append(args, []Operand{RAX, X(1), Imm(1), K1, RoundUp, SAE, Lock}[rng.IntN(7)])
	}
	j := rng.IntN(len(args))
	switch x := args[j].(type) {
	case Reg:
		switch rng.IntN(4) {
		case 0:
			args[j] = x.As([]int{1, 2, 4, 8}[rng.IntN(4)])
			if x.IsVec() {
				args[j] = x.As([]int{16, 32, 64}[rng.IntN(3)])
			}
		case 1:
			args[j] = []Reg{RAX, ECX, GPR(9, 2), GPR(3, 1), X(3), Y(19), Z(2), K3}[rng.IntN(8)]
		case 2:
			args[j] = x.Zero(K2)
		case 3:
			args[j] = x.Merge(K2)
		}
	case Mem:
		switch rng.IntN(4) {
		case 0:
			x.Size = 1 << rng.IntN(7)
		case 1:
			x.Mask = K3
		case 2:
			x.Index = []Reg{X(1), Y(2), Z(3), RSI}[rng.IntN(4)]
		case 3:
			x.Mask = 0
			x.Base = []Reg{EAX, X(3), R12}[rng.IntN(3)]
		}
		args[j] = x
	case Imm:
		args[j] = []Operand{Imm(1 << 40), Imm(300), RDX, Mem{Base: RAX, Size: 8}}[rng.IntN(4)]
	default:
		args = args[:len(args)-1]
	}
	return args
}
