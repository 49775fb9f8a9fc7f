package ptxrun

import (
	"errors"
	"fmt"
	"strings"
)

// class is the execution class of an instruction.
type class uint8

const (
	computes class = iota // one, two or three operands
	loads
	stores
	updates // atomic updates
	branches
	meets    // barriers of the group
	votes    // votes of a warp's lanes
	shuffles // shuffles between a warp's lanes
	waits    // fences and pauses, at which the host may run
	ends
	clocks
)

// instr is a decoded instruction.
type instr struct {
	class    class
	unless   bool   // the guard is inverted
	system   bool   // a fence of system scope
	readOnly bool   // a load of memory that the launch does not write
	guard    int    // predicate register of the guard, or -1
	to       int    // register of the result
	from     [3]int // registers of the operands
	f        func(x, y, z uint64) (uint64, error)
	fast     func(x, y, z uint64) uint64 // replaces f for operations that cannot fail
	target   int                         // index of the instruction to which a branch goes
	space    string                      // state space of a memory access
	kind     kind                        // kind of memory access
	offset   uint64                      // constant part of the address
	text     string                      // line of the source text
}

// extend sign-extends the bits of a value if its type is signed, and returns those of other types unchanged.
func (k kind) extend(bits uint64) uint64 {
	if k.class == 's' {
		return uint64(signed(bits, k.size))
	}
	return bits
}

// decode sets the operation and the operands of an instruction.
func (p *parser) decode(in *instr, opcode string, operands []string) error {
	parts := strings.Split(opcode, ".")
	name := parts[0]
	expect := func(n int) error {
		if len(operands) != n {
			return fmt.Errorf("%d operands instead of %d", len(operands), n)
		}
		return nil
	}
	switch opcode {
	case "bra":
		in.class = branches
		p.jumps[len(p.k.code)] = operands[0]
		return expect(1)
	case "ret":
		in.class = ends
		return expect(0)
	case "bar.sync":
		in.class = meets
		if in.guard >= 0 {
			return errors.New("a barrier under a guard")
		}
		return expect(1)
	case "vote.sync.ballot.b32":
		in.class = votes
		if err := expect(3); err != nil {
			return err
		}
		return p.lanes(in, operands[0], []string{operands[1], operands[2], operands[2]}, kind{'p', 1})
	case "shfl.sync.idx.b32":
		in.class = shuffles
		if err := expect(5); err != nil {
			return err
		}
		if operands[3] != "31" {
			return errors.New("a part of a warp")
		}
		return p.lanes(in, operands[0], []string{operands[1], operands[2], operands[4]}, kind{'b', 4})
	case "nanosleep.u32", "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys":
		in.class, in.system = waits, opcode == "fence.acq_rel.sys"
		return nil
	}
	switch name {
	case "ld", "st", "atom":
		return p.memory(in, name, parts[1:], operands)
	case "cvt":
		if err := expect(2); err != nil {
			return err
		}
		return p.conversion(in, parts[1:], operands)
	case "cvta":
		if opcode != "cvta.to.global.u64" {
			return errors.New("unknown instruction")
		}
		name, parts = "mov", []string{"mov", "u64"}
	}
	if len(parts) < 2 {
		return errors.New("unknown instruction")
	}
	t, ok := kinds[parts[len(parts)-1]]
	if !ok {
		return errors.New("unknown type")
	}
	if name == "mov" {
		if err := expect(2); err != nil {
			return err
		}
		if done, err := p.move(in, t, operands); done || err != nil {
			return err
		}
	}
	op, ok := operations.Get()[strings.Join(parts[:len(parts)-1], ".")]
	if !ok {
		return errors.New("unknown instruction")
	}
	return p.operation(in, op, t, operands)
}

// lanes decodes a warp operation: its result, its value, a lane, and the lane mask.
func (p *parser) lanes(in *instr, to string, from []string, value kind) (err error) {
	if in.guard >= 0 {
		return errors.New("an operation of a warp under a guard")
	}
	word := kind{'b', 4}
	if in.to, err = p.write(to, word, false); err != nil {
		return err
	}
	for i, t := range []kind{value, word, word} {
		if in.from[i], err = p.read(from[i], t, false); err != nil {
			return err
		}
	}
	return nil
}

// move decodes moves of addresses and of the clock. It returns false for other moves.
func (p *parser) move(in *instr, t kind, operands []string) (done bool, err error) {
	if operands[1] == "%globaltimer" {
		in.class = clocks
		in.to, err = p.write(operands[0], kind{'u', 8}, false)
		return true, err
	}
	at, ok := p.k.module.globals[operands[1]]
	for _, table := range []map[string]int{p.k.sharedAt, p.k.localAt} {
		if n, found := table[operands[1]]; found {
			at, ok = uint64(n), true
		}
	}
	if !ok {
		return false, nil
	}
	in.fast = first
	in.from[0] = p.constant(at)
	in.to, err = p.write(operands[0], t, false)
	return true, err
}

// operation is an instruction on values. Operands and result have the instruction's type unless a field overrides it.
type operation struct {
	operands int
	narrow   bool   // the instruction's type has 32 bits
	classes  string // valid type classes
	result   kind   // result type, if not the instruction's
	last     kind   // type of the last operand, if not the instruction's
	of       func(t kind) func(x, y, z uint64) (uint64, error)
	fast     func(t kind) func(x, y, z uint64) uint64
}

func (p *parser) operation(in *instr, op operation, t kind, operands []string) (err error) {
	if len(operands) != op.operands+1 {
		return fmt.Errorf("%d operands instead of %d", len(operands), op.operands+1)
	}
	if !strings.ContainsRune(op.classes, rune(t.class)) || t.class != 'p' && t.size < 4 || op.narrow && t.size != 4 {
		return errors.New("the instruction has no such type")
	}
	result := t
	if op.result.size > 0 {
		result = op.result
	}
	if in.to, err = p.write(operands[0], result, false); err != nil {
		return err
	}
	for i, text := range operands[1:] {
		k := t
		if i == op.operands-1 && op.last.size > 0 {
			k = op.last
		}
		if in.from[i], err = p.read(text, k, false); err != nil {
			return err
		}
	}
	if op.fast != nil {
		in.fast = op.fast(t)
	} else {
		in.f = op.of(t)
	}
	return nil
}

// memory decodes ld, st and atom.
func (p *parser) memory(in *instr, name string, parts, operands []string) (err error) {
	t, ok := kinds[parts[len(parts)-1]]
	if !ok || t.class == 'p' {
		return errors.New("unknown type")
	}
	in.kind = t
	in.class = map[string]class{"ld": loads, "st": stores, "atom": updates}[name]
	ordered := parts[0] == "relaxed"
	if ordered {
		if len(parts) < 4 || parts[1] != "gpu" && parts[1] != "sys" && parts[1] != "cta" {
			return errors.New("no scope")
		}
		parts = parts[2:]
	}
	in.space = parts[0]
	switch in.space {
	case "param":
		return p.parameter(in, name, operands)
	case "global", "shared", "local":
	default:
		return errors.New("unknown space")
	}
	if name == "ld" && in.space == "global" && !ordered && len(parts) == 3 && parts[1] == "nc" {
		in.readOnly, p.k.readOnly = true, true
		parts = []string{"global", parts[2]}
	}
	where, rest := 1, 2
	if name == "st" {
		where, rest = 0, 1
	}
	if len(operands) < 2 {
		return errors.New("too few operands")
	}
	if in.from[0], in.offset, err = p.address(operands[where]); err != nil {
		return err
	}
	if name != "st" {
		if in.to, err = p.write(operands[0], t, name == "ld"); err != nil {
			return err
		}
	}
	for i, text := range operands[rest:] {
		if in.from[i+1], err = p.read(text, t, name == "st"); err != nil {
			return err
		}
	}
	want := map[string]int{"ld": 2, "st": 2, "atom": 3}[name]
	if name == "atom" {
		if len(parts) != 3 || !ordered || t.size < 4 {
			return errors.New("unknown atomic")
		}
		update, ok := atomics.Get()[parts[1]]
		if !ok || !strings.ContainsRune(update.classes, rune(t.class)) || update.classes == "us" && t == (kind{'s', 8}) && parts[1] == "add" {
			return errors.New("unknown atomic")
		}
		in.fast = update.of(t)
		if parts[1] == "cas" {
			want = 4
		}
	} else if len(parts) != 2 {
		return errors.New("unknown instruction")
	} else if ordered && t.size >= 4 && name == "ld" { // one access that must not be split
		in.class = updates
		in.fast = func(x, _, _ uint64) uint64 { return x }
	}
	if len(operands) != want {
		return fmt.Errorf("%d operands instead of %d", len(operands), want)
	}
	return nil
}

// parameter decodes a load from the argument block.
func (p *parser) parameter(in *instr, name string, operands []string) (err error) {
	if name != "ld" || len(operands) != 2 {
		return errors.New("parameters are only loaded")
	}
	if in.to, err = p.write(operands[0], in.kind, true); err != nil {
		return err
	}
	for _, param := range p.k.Params {
		if operands[1] == "["+param.Name+"]" {
			in.offset = uint64(param.Offset)
			if param.Size != in.kind.size {
				return fmt.Errorf("%s has %d bytes", param.Name, param.Size)
			}
			return nil
		}
	}
	return fmt.Errorf("no parameter %s", operands[1])
}

// conversion decodes cvt.
func (p *parser) conversion(in *instr, parts, operands []string) (err error) {
	mode := ""
	if len(parts) == 3 {
		mode, parts = parts[0], parts[1:]
	}
	if len(parts) != 2 {
		return errors.New("unknown conversion")
	}
	to, ok1 := kinds[parts[0]]
	from, ok2 := kinds[parts[1]]
	if !ok1 || !ok2 || to.class == 'p' || to.class == 'b' || from.class == 'p' || from.class == 'b' {
		return errors.New("unknown types")
	}
	if in.fast, err = convert(mode, to, from); err != nil {
		return err
	}
	if in.to, err = p.write(operands[0], to, true); err != nil {
		return err
	}
	in.from[0], err = p.read(operands[1], from, true)
	return err
}
