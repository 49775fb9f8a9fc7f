package amd64

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// String returns the mnemonic.
func (op Op) String() string {
	if op < numOps && opNames[op] != "" {
		return opNames[op]
	}
	return "op(" + strconv.Itoa(int(op)) + ")"
}

// String returns the label's name in listings.
func (l Label) String() string { return ".L" + strconv.Itoa(int(l)) }

var roundingNames = [...]string{"", "{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}", "{sae}"}

// String returns the rounding in Intel syntax.
func (r Rounding) String() string {
	if int(r) < len(roundingNames) {
		return roundingNames[r]
	}
	return "rounding(" + strconv.Itoa(int(r)) + ")"
}

// String returns the address in Intel syntax, with its size if that is set.
func (v Mem) String() string { return string(v.append(nil, int(v.Size), 0)) }

// sizeNames holds the names of sizes in bytes.
var sizeNames = map[int]string{
	1: "byte ptr ", 2: "word ptr ", 4: "dword ptr ", 8: "qword ptr ", 16: "xmmword ptr ", 32: "ymmword ptr ", 64: "zmmword ptr ",
}

// append appends the address, with this operand size. lanes is the number of copies of a broadcast element, 0 if unknown.
func (v *Mem) append(b []byte, size, lanes int) []byte {
	b = append(b, sizeNames[size]...)
	if v.Base == 0 && v.Index == 0 && v.Label == 0 {
		b = append(b, "ds:"...) // without it, GNU as takes the number for an immediate
	}
	b = append(b, '[')
	mark := len(b)
	switch {
	case v.Label != 0:
		b = append(b, "rip + "...)
		b = append(b, v.Label.String()...)
	case v.Base != 0:
		b = v.Base.append(b)
	}
	if v.Index != 0 {
		if len(b) > mark {
			b = append(b, " + "...)
		}
		b = v.Index.append(b)
		b = append(b, '*')
		b = strconv.AppendInt(b, int64(max(v.Scale, 1)), 10)
	}
	switch {
	case len(b) == mark:
		b = strconv.AppendInt(b, int64(v.Disp), 10)
	case v.Disp > 0:
		b = append(b, " + "...)
		b = strconv.AppendInt(b, int64(v.Disp), 10)
	case v.Disp < 0:
		b = append(b, " - "...)
		b = strconv.AppendInt(b, -int64(v.Disp), 10)
	}
	b = append(b, ']')
	if v.Broadcast {
		if lanes > 0 {
			b = append(b, "{1to"...)
			b = strconv.AppendInt(b, int64(lanes), 10)
			b = append(b, '}')
		} else {
			b = append(b, "{broadcast}"...)
		}
	}
	if v.Mask != 0 {
		b = append(b, '{')
		b = v.Mask.append(b)
		b = append(b, '}')
	}
	return b
}

// String returns the instruction in the Intel syntax of GNU as. Unsized memory operands have sizes only after match.
func (in *instruction) String() string {
	var b []byte
	if in.lock {
		b = append(b, "lock "...)
	}
	b = append(b, in.op.String()...)
	comma := " "
	rounded := in.rounding == 0
	for j := range in.args[:in.n] {
		x := &in.args[j]
		if !rounded && x.kind&kImm64 != 0 {
			b = append(append(b, comma...), in.rounding.String()...)
			rounded = true
			comma = ", "
		}
		b = append(b, comma...)
		comma = ", "
		switch {
		case x.isMem():
			b = in.appendMem(b, &x.mem)
		case x.kind&kLabel != 0:
			b = append(b, Label(x.imm).String()...)
		case x.kind&kImm64 != 0:
			b = strconv.AppendInt(b, x.imm, 10)
		default:
			b = x.reg.append(b)
		}
	}
	if !rounded {
		b = append(append(b, comma...), in.rounding.String()...)
	}
	return string(b)
}

func (in *instruction) appendMem(b []byte, v *Mem) []byte {
	if in.form == nil {
		return v.append(b, int(v.Size), 0)
	}
	size, lanes := in.memBytes(), 0
	if v.Broadcast {
		lanes = size / in.elementBytes()
		size = in.elementBytes()
	}
	return v.append(b, size, lanes)
}

// explain returns the reason why no form fits: the wrong operand or modifier of the closest form.
func (in *instruction) explain(features Features) string {
	in.form = nil
	text := in.String()
	forms := in.op.forms()
	if len(forms) == 0 {
		return text + ": unknown instruction"
	}
	if in.wantsSize(features) {
		return text + ": the memory operand needs a size"
	}
	best, wants := -1, []string(nil)
	why := ""
	for i := range forms {
		f := &forms[i]
		if in.fits(f) {
			why = in.refusal(f, features)
			best = len(f.args)
			continue
		}
		good := in.prefix(f)
		if good > best {
			best, wants = good, nil
		}
		if good == best {
			wants = append(wants, f.args[good].describe(in.index))
		}
	}
	switch {
	case why != "":
		return text + ": " + why
	case best >= in.n:
		return fmt.Sprintf("%s: an operand is missing: %s", text, alternatives(wants))
	}
	return fmt.Sprintf("%s: operand %d must be %s", text, best+1, alternatives(wants))
}

// wantsSize reports whether the instruction would match if its memory operand had a size.
func (in *instruction) wantsSize(features Features) bool {
	if in.memory == nil || in.memory.mem.Size != 0 || in.memory.kind&kMem == 0 {
		return false
	}
	trial := *in
	operands := make([]Operand, in.n)
	for size := uint8(1); size <= 64; size *= 2 {
		for j := range operands {
			switch x := &in.args[j]; {
			case x.isMem():
				v := x.mem
				v.Size = size
				operands[j] = v
			case x.kind&kImm64 != 0:
				operands[j] = Imm(x.imm)
			case x.kind&kLabel != 0:
				operands[j] = Label(x.imm)
			default:
				operands[j] = x.reg
			}
		}
		if trial.set(in.op, operands) == "" && trial.match(features) {
			return true
		}
	}
	return false
}

// prefix sets in.index for a form, and returns the number of leading operands that fit the form, at most 3.
func (in *instruction) prefix(f *form) int {
	switch {
	case f.attr&bAll != 0:
		in.index = max(in.size, 0)
	case f.attr&xyz != 0:
		in.index = in.length
	default:
		in.index = 0
	}
	for j := range f.args {
		if patternKinds[f.args[j]][in.index]&in.args[j].kind == 0 {
			return j
		}
	}
	return len(f.args) - 1
}

// refusal returns the reason why a form with matching operands is not usable.
func (in *instruction) refusal(f *form, features Features) string {
	switch {
	case in.memory != nil && f.attr&sized != 0 && in.memory.mem.Size == 0:
		return "the memory operand needs a size"
	case in.mask != 0 && f.attr&k1 == 0:
		return "takes no write mask"
	case in.zeroing && f.attr&kzero == 0:
		return "takes no zeroing mask"
	case in.mask == 0 && f.attr&kneeds != 0:
		return "needs a write mask"
	case f.attr&distinct != 0 && !in.areDistinct():
		return "destination, index and mask of a gather must be different registers"
	case in.lock && !in.allowed(f):
		return "takes no lock prefix with these operands"
	case in.rounding != 0 && !in.allowed(f):
		return "takes no " + in.rounding.String() + " with these operands"
	case f.enc&evex == 0 && in.wide:
		return "has no EVEX encoding, which a mask, a broadcast, a rounding, 512 bits or a register above 15 needs"
	case f.enc&evex != 0 && (f.enc&vex == 0 || in.wide):
		return "needs " + ((f.need&evexFeatures | AVX512) &^ features).String() + ", which the target does not have"
	}
	return "needs " + (f.need &^ features).String() + ", which the target does not have"
}

// alternatives joins the different ones of these descriptions by "or".
func alternatives(wants []string) string {
	var list []string
	for _, w := range wants {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return strings.Join(list, " or ")
}

var kindNames = [...]string{
	"an 8-bit register", "a 16-bit register", "a 32-bit register", "a 64-bit register", "xmm", "ymm", "zmm",
	"a mask register", "m8", "m16", "m32", "m64", "m128", "m256", "m512", "a broadcast",
	"memory indexed by xmm", "memory indexed by ymm", "memory indexed by zmm", "the accumulator", "cl", "the immediate 1",
	"a sign-extended 8-bit immediate", "an 8-bit immediate", "an immediate that fits", "a 64-bit immediate", "a label",
	"left out",
}

// describe returns the names of the operands that a pattern accepts at an index of [patternKinds].
func (p pattern) describe(index int) string {
	k := patternKinds[p][index]
	if k == kMem {
		return "memory"
	}
	var names []string
	for i, name := range kindNames {
		if k>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
