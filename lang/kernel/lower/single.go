package lower

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// singleLevel rewrites jumps out of several constructs, for languages such as C. The jump stores its operands and its number in
// variables and leaves the innermost construct; the code after the construct continues the jump.
func (l *lowering) singleLevel() {
	s := &singles{l: l, jumps: map[*ir.Instr][]*far{}}
	s.block(l.out.IR.Body)
	if s.code.array != nil {
		body := l.out.IR.Body
		rest := body.Instrs
		body.Instrs, l.Block, l.Site = nil, body, 0
		l.set(s.code, l.i32(0))
		body.Instrs = append(body.Instrs, rest...)
	}
}

// far is a jump that leaves several constructs.
type far struct {
	number int   // counts from 1
	op     ir.Op // Break or Continue
	target *ir.Instr
	slots  []variable // variables that hold the operands
}

type singles struct {
	l      *lowering
	around []*ir.Instr // blocks and loops
	jumps  map[*ir.Instr][]*far
	code   variable // number of the jump in progress, 0 for none
	count  int
}

func (s *singles) innermost() *ir.Instr { return s.around[len(s.around)-1] }

// near reports whether a jump to the target leaves no block or loop inside the target.
func (s *singles) near(target *ir.Instr) bool { return s.innermost() == target }

func (s *singles) block(b *ir.Block) {
	if b == nil {
		return
	}
	l := s.l
	list := b.Instrs
	b.Instrs = make([]*ir.Instr, 0, len(list))
	for _, in := range list {
		l.Site = in.Site
		switch in.Op {
		case ir.Region, ir.Loop:
			s.around = append(s.around, in)
			s.block(in.Then)
			s.around = s.around[:len(s.around)-1]
			b.Instrs = append(b.Instrs, in)
			l.Block = b
			s.after(in)
		case ir.If:
			s.block(in.Then)
			s.block(in.Else)
			b.Instrs = append(b.Instrs, in)
		case ir.Break, ir.Continue:
			if s.near(in.Target) {
				b.Instrs = append(b.Instrs, in)
				continue
			}
			l.Block = b
			s.leaveFar(in)
		default:
			b.Instrs = append(b.Instrs, in)
		}
	}
}

// leaveFar replaces a jump by stores and a break of the innermost construct.
func (s *singles) leaveFar(in *ir.Instr) {
	l := s.l
	if s.code.array == nil {
		s.code = l.newVariable(".jump", ir.I32)
	}
	s.count++
	j := &far{number: s.count, op: in.Op, target: in.Target}
	for _, a := range in.Args {
		v := l.newVariable(fmt.Sprintf(".jump %d.%d", s.count, len(j.slots)), a.Type)
		l.set(v, a)
		j.slots = append(j.slots, v)
	}
	l.set(s.code, l.i32(s.count))
	s.away(j)
}

// away breaks the innermost construct for a jump in progress.
func (s *singles) away(j *far) {
	inner := s.innermost()
	s.jumps[inner] = append(s.jumps[inner], j)
	s.l.jump(ir.Break, inner, s.l.zeros(inner.Results)...)
}

// after emits the continuation of jumps in progress after a construct.
func (s *singles) after(in *ir.Instr) {
	l := s.l
	jumps := s.jumps[in]
	if len(jumps) == 0 {
		return
	}
	outer := l.Block
	code := l.get(s.code)
	for _, j := range jumps {
		c := l.Nested(ir.If, nil, l.eq(code, l.i32(j.number)))
		l.Block = c.Else
		l.jump(ir.Yield, nil)
		l.Block = c.Then
		if s.near(j.target) {
			args := make([]*ir.Value, len(j.slots))
			for i, v := range j.slots {
				args[i] = l.get(v)
			}
			l.set(s.code, l.i32(0))
			l.jump(j.op, j.target, args...)
		} else {
			s.away(j)
		}
		l.Block = outer
	}
}
