package amd64

// generator makes instructions that match forms. It varies one operand at a time over all registers and addresses, then the
// modifiers.
type generator struct {
	samples []sample
	stride  int // keeps every stride-th sample
	count   int

	f     *form
	index int  // the length
	high  bool // vector registers above 15, and broadcasts
}

func (g *generator) form(f *form) {
	for _, length := range f.lengths() {
		for _, high := range []bool{false, true} {
			g.f, g.index, g.high = f, length, high
			g.operands()
		}
	}
}

// add keeps a sample if it matches the generator's form. Other forms have their own samples.
func (g *generator) add(args []Operand, modifiers ...Operand) {
	args = append(append([]Operand(nil), args...), modifiers...)
	var in instruction
	if in.set(g.f.op, args) == "" && in.match(AllFeatures) && in.form == g.f {
		g.samples = append(g.samples, sample{g.f.op, args})
	}
}

func (f *form) lengths() (lengths []int) {
	shift, n := -1, 0
	switch {
	case f.attr&bAll != 0:
		shift, n = intShift, 4
	case f.attr&xyz != 0:
		shift, n = vecShift, 3
	default:
		return []int{0}
	}
	for i := range n {
		if f.attr>>shift>>i&1 != 0 {
			lengths = append(lengths, i)
		}
	}
	return lengths
}

func (g *generator) operands() {
	f := g.f
	n := 0
	for n < len(f.args) && f.args[n] != none {
		n++
	}
	choices := make([][]Operand, n)
	for j := range n {
		choices[j] = g.choices(f.args[j])
	}
	if n == 0 {
		g.add(nil)
	}
	for j := range n {
		for i, o := range choices[j] {
			for variant := range 4 {
				if g.count++; g.count%g.stride != 0 {
					continue
				}
				args := make([]Operand, n)
				for l := range n {
					args[l] = choices[l][(i*7+l*5+variant*11)%len(choices[l])]
				}
				args[j] = o
				if variant%2 == 0 {
					// The other operands are simple: registers come first in the list.
					for l := range n {
						if l != j {
							args[l] = choices[l][(variant+l)%min(3, len(choices[l]))]
						}
					}
				}
				g.add(args)
				if f.attr&locks != 0 {
					g.add(args, Lock)
				}
				if f.attr&k1 != 0 {
					g.add(masked(args, 1+i%7, false))
					g.add(masked(args, 1+(i+3)%7, true))
				}
				for r := RoundNearest; r <= SAE; r++ {
					g.add(args, r)
					if f.attr&k1 != 0 {
						g.add(masked(args, 7-i%7, i%2 == 0), r)
					}
				}
			}
		}
	}
}

// masked returns the operands with a write mask on the destination.
func masked(args []Operand, k int, zero bool) []Operand {
	args = append([]Operand(nil), args...)
	switch d := args[0].(type) {
	case Reg:
		if zero {
			args[0] = d.Zero(K(k))
		} else {
			args[0] = d.Merge(K(k))
		}
	case Mem:
		d.Mask = K(k)
		args[0] = d
	}
	return args
}

func (g *generator) choices(p pattern) (list []Operand) {
	k := patternKinds[p][g.index]
	for i := range 4 {
		if k&(kR8<<i) != 0 {
			for n := range 16 {
				list = append(list, GPR(n, 1<<i))
			}
		}
	}
	vectors := []int{0, 1, 7, 8, 15}
	if g.high {
		vectors = []int{0, 3, 7, 8, 15, 16, 23, 24, 31}
	}
	for i := range 3 {
		if k&(kX<<i) != 0 {
			for _, n := range vectors {
				list = append(list, vec(n, xmmLog+Reg(i)))
			}
		}
	}
	if k&kK != 0 {
		for n := range 8 {
			list = append(list, K(n))
		}
	}
	for i := range 7 {
		if k&(kM8<<i) != 0 {
			size := 1 << i
			if k&kMem == kMem {
				if i > 0 {
					break
				}
				size = 0
			}
			for _, v := range addresses(size) {
				list = append(list, v)
			}
		}
	}
	if k&kBroadcast != 0 && g.high {
		size := 1
		for k := k & kMem; k > kM8; k >>= 1 {
			size <<= 1
		}
		for _, v := range addresses(8) {
			v.Size, v.Broadcast = uint8(size), true
			list = append(list, v)
		}
		for _, v := range addresses(4) {
			v.Size, v.Broadcast = uint8(size), true
			list = append(list, v)
		}
	}
	for i := range 3 {
		if k&(kIndexX<<i) != 0 {
			for _, n := range vectors {
				for base := RAX; base <= R15; base++ {
					for _, disp := range []int32{0, 4, 8, -128, 127, 128, 508, 512, 1016, 1024, 1 << 20} {
						if (int(base)+n+int(disp))%3 == 0 {
							list = append(list, Mem{Base: base, Index: vec(n, xmmLog+Reg(i)), Scale: 1 << (n % 4), Disp: disp})
						}
					}
				}
				list = append(list, Mem{Index: vec(n, xmmLog+Reg(i)), Scale: 4, Disp: 64})
			}
		}
	}
	for _, c := range []struct {
		k kind
		r Reg
	}{{kCL, CL}} {
		if k == c.k {
			list = append(list, c.r)
		}
	}
	if k == kAcc {
		list = append(list, GPR(0, 1<<g.index))
	}
	if k&kOne != 0 {
		list = append(list, Imm(1))
	}
	if k&kImm8s != 0 {
		list = append(list, Imm(2), Imm(-128), Imm(127), Imm(-1))
	}
	if k&kImm8 != 0 {
		list = append(list, Imm(0), Imm(2), Imm(127), Imm(128), Imm(255))
	}
	if k&kImmS != 0 {
		list = append(list, [][]Operand{
			{Imm(0), Imm(3), Imm(-128), Imm(127), Imm(255)},
			{Imm(128), Imm(-129), Imm(-32768), Imm(32767), Imm(0x7f80)},
			{Imm(0), Imm(128), Imm(-129), Imm(1<<31 - 1), Imm(-1 << 31)},
			{Imm(0), Imm(128), Imm(-129), Imm(1<<31 - 1), Imm(-1 << 31)},
		}[g.index]...)
	}
	if k&kImm64 != 0 {
		list = append(list, Imm(1<<31), Imm(-1<<31-1), Imm(1<<62), Imm(-1<<63))
	}
	return list
}

// addresses returns addresses of all shapes for an operand of this size: every base, index and scale, and displacements
// around the limits of the short form.
func addresses(size int) (list []Mem) {
	s := uint8(size)
	unit := int32(max(size, 1))
	for i := range 16 {
		base := RAX + Reg(i)
		list = append(list, Mem{Base: base, Size: s}, Mem{Base: base, Disp: unit, Size: s})
		index := RAX + Reg((i+5)%16)
		if index != RSP {
			list = append(list, Mem{Base: base, Index: index, Scale: 1 << (i % 4), Size: s})
			list = append(list, Mem{Base: base, Index: index, Scale: 1 << (i / 4), Size: s, Disp: -unit})
			list = append(list, Mem{Index: index, Scale: 8, Disp: 64, Size: s})
		}
	}
	for _, disp := range []int32{1, -1, 127, 128, -128, -129, 127 * unit, 128 * unit, -128 * unit, -129 * unit, 127*unit + 1, 1<<31 - 1, -1 << 31} {
		list = append(list, Mem{Base: RCX, Disp: disp, Size: s}, Mem{Base: R13, Index: R9, Scale: 2, Disp: disp, Size: s})
	}
	return append(list, Mem{Disp: 4096, Size: s})
}
