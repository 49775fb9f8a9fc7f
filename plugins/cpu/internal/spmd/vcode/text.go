package vcode

import (
	"fmt"
	"strings"
)

// String returns the function as text with one instruction per line, for dumps. A register is v, k or r, for its class,
// and its number. Results are left of an arrow, and memory operands in brackets.
func (f *Func) String() string {
	var b strings.Builder
	for i := range f.Insts {
		if text := f.text(&f.Insts[i]); text != "" {
			fmt.Fprintf(&b, "%5d %s\n", i, text)
		}
	}
	return b.String()
}

// text returns an instruction as text, or "" for a removed one.
func (f *Func) text(in *Inst) string {
	switch in.Kind {
	case KindNone:
		return ""
	case KindLabel:
		return fmt.Sprintf("L%d:", in.Label())
	case KindTrap:
		t := &f.Traps[in.Trap()]
		return fmt.Sprintf("\ttrap %d %s uses %s defs %s", in.Trap(), t.Kind, f.names(t.Uses), f.names(t.Defs))
	case KindComment:
		return fmt.Sprintf("\t# site %d", in.Site())
	case KindDeclare:
		return "\tdeclare " + f.name(in.Declared())
	case KindOp:
		return "\t" + f.operation(in)
	}
	return "\t" + in.Kind.String()
}

func (f *Func) operation(in *Inst) string {
	text := in.Op.String()
	if in.Lock {
		text = "lock " + text
	}
	for i := range in.Args[:in.N] {
		if i > 1 || i == 1 && in.Mode == ModeUse {
			text += ","
		}
		text += " " + f.operand(in, i)
		if i == 0 && in.Mask != 0 {
			text += " {" + f.name(in.Mask) + "}"
			if in.Zero {
				text += "{z}"
			}
		}
		if i == 0 && in.Mode != ModeUse {
			text += [...]string{ModeDef: " <-", ModeMod: " <->"}[in.Mode]
		}
	}
	return text
}

func (f *Func) operand(in *Inst, i int) string {
	switch a := in.Args[i]; a.Kind {
	case ArgReg:
		if a.Size == 0 {
			return f.name(a.Reg)
		}
		return fmt.Sprintf("%s:%d", f.name(a.Reg), 8*int(a.Size))
	case ArgPhys:
		return a.Phys.String()
	case ArgMem:
		return f.address(&in.Mem)
	case ArgLabel:
		return fmt.Sprintf("L%d", in.Imm)
	}
	return fmt.Sprint(in.Imm)
}

func (f *Func) address(m *Mem) string {
	var terms []string
	if m.Label != 0 {
		terms = append(terms, fmt.Sprintf("L%d", m.Label))
	}
	if m.Fixed != 0 {
		terms = append(terms, m.Fixed.String())
	}
	if m.Base != 0 {
		terms = append(terms, f.name(m.Base))
	}
	if m.Index != 0 {
		terms = append(terms, fmt.Sprintf("%d*%s", max(m.Scale, 1), f.name(m.Index)))
	}
	if m.Disp != 0 || len(terms) == 0 {
		terms = append(terms, fmt.Sprint(m.Disp))
	}
	return "[" + strings.Join(terms, " + ") + "]"
}

func (f *Func) names(list []Reg) string {
	var names []string
	for _, r := range list {
		names = append(names, f.name(r))
	}
	return "(" + strings.Join(names, " ") + ")"
}

// name returns the name of a register: v, k or r for its class, then its number. Constants have the prefix c, other shared
// registers the prefix @.
func (f *Func) name(r Reg) string {
	v := &f.Regs[r]
	name := fmt.Sprintf("%c%d", "vkr"[v.Class], r)
	if v.Elem != 0 {
		return "c" + name
	}
	if v.Shared {
		return "@" + name
	}
	return name
}

// String returns the name of the kind in dumps.
func (k Kind) String() string {
	return [...]string{KindOp: "op", KindLabel: "label", KindLoopBegin: "loop {", KindLoopEnd: "}", KindColdBegin: "cold {",
		KindColdEnd: "}", KindTrap: "trap", KindBarrier: "barrier", KindComment: "comment", KindDeclare: "declare", KindNone: "none"}[k]
}

// String returns the name of the trap in dumps.
func (k TrapKind) String() string {
	return [...]string{TrapBounds: "bounds", TrapZero: "zero", TrapAssert: "assert", TrapEval: "eval", TrapPrint: "print",
		TrapCall: "call", TrapGroup: "group", TrapClock: "clock"}[k]
}
