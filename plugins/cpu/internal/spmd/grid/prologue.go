package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// prologue emits the values that are constant in a launch.
func (l *Builder) prologue() {
	scalars := l.Kernel.Body.Params
	for i, p := range l.Kernel.Params {
		if p.Array != nil {
			continue
		}
		v := scalars[0]
		scalars = scalars[1:]
		from := vcode.CtxMem(l.Layout.Args+8*i, v.Type.Size())
		switch {
		case v.Type.IsFloat():
			d := l.NewVec()
			from.Size = 0
			l.Def(lanes.Sized(v.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), d.Z(), from.At())
			l.Set(v, values.Value{Vec: []vcode.Reg{d}})
		case v.Type == ir.Bool:
			d := l.NewGPR()
			from.Size = 4
			l.Def(amd64.MOV, d.G4(), from.At())
			l.Set(v, values.Value{G: d})
		default:
			d := l.NewGPR()
			l.Def(amd64.MOV, d.G(v.Type.Size()), from.At())
			l.Set(v, values.Value{G: d})
		}
	}
	used := make([]bool, len(l.Kernel.Arrays))
	pitches := map[memory.PitchKey]bool{}
	var order []memory.PitchKey
	l.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Array == nil || in.Op == ir.Extent || in.Op == ir.Zero {
			return
		}
		used[in.Array.ID] = true
		for _, n := range in.Resolve().Inner {
			key := memory.PitchKey{Array: in.Array.ID, Inner: n}
			if n > 0 && !pitches[key] {
				pitches[key] = true
				order = append(order, key)
			}
		}
	})
	l.Bases = make([]vcode.Reg, len(l.Kernel.Arrays))
	for _, a := range l.Kernel.Arrays {
		if !used[a.ID] || a.Space == ir.Private {
			continue
		}
		r := l.NewGPR()
		l.Bases[a.ID] = r
		place := l.Buffer(a) + abi.BufBase
		if a.Space != ir.Global {
			place = l.Layout.Arrays[a.ID]
		}
		l.Def(amd64.MOV, r.G8(), vcode.CtxMem(place, 8).At())
	}
	for _, key := range order {
		a := l.Kernel.Arrays[key.Array]
		r := l.NewGPR()
		l.Def(amd64.MOV, r.G8(), vcode.CtxMem(l.Buffer(a)+abi.BufDims+8*(a.Rank-1), 8).At())
		for n := 2; n <= key.Inner; n++ {
			l.Mod(amd64.IMUL, r.G8(), vcode.CtxMem(l.Buffer(a)+abi.BufDims+8*(a.Rank-n), 8).At())
		}
		l.Pitches[key] = r
	}
	l.hoist(func(in *ir.Instr) bool {
		return in.Op == ir.Extent || in.Op == ir.Item && (in.Item == ir.GlobalSize || in.Item == ir.GroupSize ||
			in.Item == ir.NumGroups || in.Item == ir.SubgroupSize)
	})
}

// hoist emits instructions of the kernel's body here, before the loop over gangs. These are the instructions that root accepts, and
// pure arithmetic on hoisted values, constants and parameters. Without a 2-D gang, the arithmetic must be uniform.
func (l *Builder) hoist(root func(*ir.Instr) bool) {
	known := func(v *ir.Value) bool {
		in := v.Def
		return in == nil || in.Op == ir.Const || l.Hoisted[in]
	}
	for _, in := range l.Kernel.Body.Instrs {
		if l.Hoisted[in] || in.Op == ir.Const || len(in.Results) != 1 || in.Then != nil {
			continue
		}
		ok := root(in)
		if !ok && in.Op.IsArith() && in.IsPure() && in.Proved == 0 && len(in.Args) > 0 &&
			(l.IsUniform(in.Results[0]) || l.Spec.Is2D()) {
			ok = true
			for _, a := range in.Args {
				ok = ok && known(a)
			}
		}
		if !ok {
			continue
		}
		l.Hoisted[in] = true
		l.Instr(in)
	}
	l.Undo = l.Undo[:0] // hoisted values are valid in all blocks
}
