package passes

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// InvertBranches replaces a conditional jump over an unconditional jump by one inverted conditional jump. It also removes
// unconditional jumps to a label that directly follows.
func InvertBranches(f *vcode.Func) {
	removeJumps(f)
	var last [2]*vcode.Inst // the last two instructions that emit code, the later one first
	for i := range f.Insts {
		in := &f.Insts[i]
		switch in.Kind {
		case vcode.KindComment, vcode.KindDeclare, vcode.KindNone:
			continue
		case vcode.KindLabel:
			to, over := last[0], last[1]
			if to == nil || over == nil || to.Kind != vcode.KindOp || over.Kind != vcode.KindOp || to.Op != amd64.JMP || to.Args[0].Kind != vcode.ArgLabel ||
				!over.Op.IsConditionalJump() || over.Imm != int64(in.Label()) {
				break
			}
			over.Op = over.Op.Inverted()
			over.Imm = to.Imm
			to.Kind, to.N = vcode.KindNone, 0
		}
		last = [2]*vcode.Inst{in, last[0]}
	}
}

// removeJumps removes unconditional jumps to a label that follows without code between.
func removeJumps(f *vcode.Func) {
	for i := range f.Insts {
		jump := &f.Insts[i]
		if jump.Kind != vcode.KindOp || jump.Op != amd64.JMP || jump.Args[0].Kind != vcode.ArgLabel {
			continue
		}
	after:
		for j := i + 1; j < len(f.Insts); j++ {
			switch in := &f.Insts[j]; in.Kind {
			case vcode.KindComment, vcode.KindDeclare, vcode.KindNone:
			case vcode.KindLabel:
				if int64(in.Label()) == jump.Imm {
					jump.Kind, jump.N = vcode.KindNone, 0
					break after
				}
			default:
				break after
			}
		}
	}
}
