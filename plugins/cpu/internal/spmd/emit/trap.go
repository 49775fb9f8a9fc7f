package emit

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// emitTrap emits the code that traps call with their number in eax: it saves the registers in the context and returns to Go. Then
// emitTrap emits the code by which Go resumes the function: it restores the registers. emitTrap returns the label of the latter.
func emitTrap(a *amd64.Assembler, t *vcode.Target, trap amd64.Label) (resume amd64.Label) {
	a.Bind(trap)
	c := func(off int) amd64.Mem { return amd64.Mem{Base: abi.Context, Disp: int32(off)} }
	saved := []amd64.Reg{amd64.RCX, amd64.RDX, amd64.RBX, amd64.RSI, amd64.RDI, amd64.R8, amd64.R9, amd64.R10, amd64.R11,
		amd64.R12, amd64.R13, amd64.R14, amd64.R15}
	a.Emit(amd64.INC, amd64.EAX)
	status := c(abi.CtxStatus)
	a.Emit(amd64.MOV, status, amd64.EAX)
	a.Emit(amd64.POP, amd64.RAX)
	a.Emit(amd64.MOV, c(abi.CtxResume), amd64.RAX)
	for _, r := range saved {
		a.Emit(amd64.MOV, c(abi.CtxGPR+8*r.Num()), r)
	}
	for i := 1; i < 8 && t.HasMasks; i++ {
		a.Emit(amd64.KMOVW, c(abi.CtxMasks+8*i), amd64.K(i))
	}
	for i := range t.Vectors + vcode.ScratchVectors {
		a.Emit(amd64.VMOVUPS, c(abi.CtxVec+64*i), amd64.X(i).As(t.Bytes()))
	}
	a.Emit(amd64.VZEROUPPER)
	a.Emit(amd64.RET)

	resume = a.NewLabel()
	a.Align(16)
	a.Bind(resume)
	a.Emit(amd64.MOV, abi.Context, amd64.RDI)
	for i := range t.Vectors + vcode.ScratchVectors {
		a.Emit(amd64.VMOVUPS, amd64.X(i).As(t.Bytes()), c(abi.CtxVec+64*i))
	}
	for i := 1; i < 8 && t.HasMasks; i++ {
		a.Emit(amd64.KMOVW, amd64.K(i), c(abi.CtxMasks+8*i))
	}
	for _, r := range saved {
		a.Emit(amd64.MOV, r, c(abi.CtxGPR+8*r.Num()))
	}
	target := c(abi.CtxResume)
	target.Size = 8
	a.Emit(amd64.JMP, target)
	return resume
}
