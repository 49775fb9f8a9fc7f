package amd64

import (
	"bytes"
	"testing"
)

// TestReset assembles code several times in one Assembler, and checks that no state of earlier code affects it.
func TestReset(t *testing.T) {
	programs := []func(a *Assembler){
		func(a *Assembler) {
			top := a.NewLabel()
			a.Emit(VADDPS, Z(1), Z(2), Mem{Label: a.Const(make([]byte, 64), 64)})
			a.Emit(VMULPS, X(1), X(2), Mem{Label: a.Const([]byte("sixteen elements"), 16)})
			a.Bind(top)
			a.Emit(JNE, top)
			a.Emit(JMP, a.NewLabel()) // an unbound label
		},
		func(a *Assembler) {
			a.StartListing()
			a.Emit(MOV, RAX, Z(1)) // an error
		},
		func(a *Assembler) {
			a.Emit(VADDSS, X(1), X(2), a.Const32(7))
			a.Align(32)
			a.Emit(VADDSD, X(1), X(2), a.Const64(7))
			a.Emit(VMULPS, X(1), X(2), Mem{Label: a.Const([]byte("sixteen elements"), 16)})
			a.Emit(RET)
		},
		func(a *Assembler) { a.Emit(NOP) },
	}
	used := New(0)
	for range 2 {
		for i, program := range programs {
			alone := New(AllFeatures)
			used.Reset(AllFeatures)
			program(alone)
			program(used)
			if used.Count() != alone.Count() || used.Listing() != alone.Listing() || used.Features() != AllFeatures {
				t.Errorf("program %d: %d instructions, alone %d, listing %q", i, used.Count(), alone.Count(), used.Listing())
			}
			want, wrong := alone.Finish()
			got, err := used.Finish()
			if !bytes.Equal(got, want) || (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
				t.Errorf("program %d: %x, %v, alone %x, %v", i, got, err, want, wrong)
			}
		}
	}
}
