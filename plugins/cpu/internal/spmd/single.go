package spmd

import (
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/groupop"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// singles are the programs for groups of one gang, by the logarithm of its registers.
type singles [6]func() *Program

// oneGang is how many registers a gang may have that is a group of a kernel: none unless there is something to wait for,
// and nothing else that asks for all of a group.
func oneGang(k *ir.Kernel, o *Options) int {
	ok := true
	waits, loops, wide, bytes := false, false, false, 0
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Barrier:
			waits = true
		case ir.Reduce:
			waits = true
			ok = ok && in.Type() != ir.Bool
		case ir.Scan, ir.Uniform, ir.Subgroup:
			ok = false
		case ir.Loop:
			loops = true
		}
		for _, r := range in.Results {
			wide = wide || r.Type.Size() == 8
		}
	})
	for _, a := range k.Arrays {
		if a.Space == ir.Private {
			bytes += a.Bytes()
		}
	}
	if !waits || !ok {
		return 0
	}
	if o.wide {
		return abi.MaxGangItems / o.target.Lanes
	}
	if loops || wide || bytes > 0 {
		return o.Gang
	}
	return max(o.Gang, widest(k, o.target))
}

// widest is how many registers gangs of a kernel without loops can have so that what lives there mostly fits.
func widest(k *ir.Kernel, t *vcode.Target) int {
	u := k.Uniformity(gangScope(false))
	p := pressure{u: u, last: make([]int, k.NumValues()), born: make([]int, k.NumValues()), loops: true, depth: 1}
	p.number(k.Body)
	p.at = 0
	p.measure(k.Body)
	w := abi.MaxGangItems / t.Lanes
	if onlyReduces(k, u) {
		return w
	}
	for w > 1 && w*max(p.most, 1) > t.Vectors+vcode.ScratchVectors {
		w /= 2
	}
	return w
}

// onlyReduces reports whether all that differs between the items of a kernel is what they load to be reduced: as much as is
// loaded at once need not live at once then, see foldLoads.
func onlyReduces(k *ir.Kernel, u *ir.Uniformity) bool {
	ok := true
	affine := opt.FindAffine(k, u)
	loaded := map[*ir.Value]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		for _, r := range in.Results {
			switch _, known := affine.Strides(r); {
			case u.Value(r) != ir.Varying || known || r.Type == ir.Bool:
			case in.Op == ir.Load:
				loaded[r] = true
			default:
				ok = false
			}
		}
		for i, a := range in.Args {
			ok = ok && (!loaded[a] || in.Op == ir.Reduce && i == 0)
		}
	})
	return ok
}

// prepareSingles makes what compiles a kernel for groups of one gang, when there are some.
func (p *Program) prepareSingles() {
	if !p.observes {
		return
	}
	most := oneGang(p.kernel, &p.options)
	for i := range p.singles {
		if 1<<i > most {
			break
		}
		o := p.options
		o.Gang, o.Whole, o.single = 1<<i, true, true
		p.singles[i] = sync.OnceValue(func() *Program { return newProgram(p.kernel, o) })
	}
}

// SingleGroups are the numbers of work-items along x with which groups are run by programs of their own, see
// [Program.Single].
func (p *Program) SingleGroups() []int {
	var list []int
	for i, program := range p.singles {
		if program != nil && program().Check() == nil {
			list = append(list, p.options.target.Lanes<<i)
		}
	}
	return list
}

// Single gives the program that runs complete groups of so many work-items along x, and one along the other axes, if they
// are one gang each; nil if they are not.
func (p *Program) Single(items int) *Program {
	return p.single(&interp.Launch{Size: [3]int{items, 1, 1}, GroupSize: [3]int{items, 1, 1}})
}

// single gives the program for a launch whose groups are one gang each; nil if there is none.
func (p *Program) single(g *interp.Launch) *Program {
	n := g.GroupSize[0]
	if g.GroupSize[1] > 1 || g.GroupSize[2] > 1 || n == 0 || g.Size[0]%n != 0 {
		return nil
	}
	for i, program := range p.singles {
		if program != nil && p.options.target.Lanes<<i == n {
			if s := program(); !s.refused.Load() {
				return s
			}
		}
	}
	return nil
}

// overSingles emits the loop over work-groups of one gang each.
func (l *builder) overSingles(done amd64.Label) {
	l.Func.Shared = false
	group, end := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(group)
	l.clearShared()
	l.item.x, l.item.local = l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, l.item.x.G4(), vcode.CtxMem(abi.CtxGroup, 4).At())
	l.Mod(amd64.IMUL, l.item.x.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
	l.Def(amd64.MOV, l.item.local.G4(), vcode.Imm(0))
	l.body(nil, end)
	l.Bind(end)
	l.nextGroup(group, done)
	l.Mark(vcode.KindLoopEnd)
}

// reduceSingle emits the reduction of a group that is one gang.
func (l *builder) reduceSingle(in *ir.Instr) {
	t, r := in.Args[0].Type, in.Result()
	if !l.uniform(r) {
		l.refuse("a reduction whose result differs")
	}
	given := l.given(in)
	regs := make([]vcode.Reg, l.vectorsOf(t))
	for i := range regs {
		regs[i] = vcode.Part(given, i)
	}
	last := l.reduceVectors(groupop.Of(in), regs)
	if t.IsFloat() {
		l.set(r, value{vec: []vcode.Reg{last}})
		return
	}
	d := l.NewGPR()
	l.Def(sized(t.Size(), amd64.VMOVD, amd64.VMOVQ), d.G(t.Size()), last.X())
	l.set(r, value{g: d})
}
