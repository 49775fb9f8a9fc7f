package passes

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// InvertBranches replaces a conditional jump over an unconditional jump by one inverted conditional jump.
func InvertBranches(f *vcode.Func) {
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
