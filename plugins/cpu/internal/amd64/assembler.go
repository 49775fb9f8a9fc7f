package amd64

import "fmt"

// Assembler collects the instructions, labels and constants of one piece of code. After the first error it ignores all
// input; [Assembler.Finish] and [Assembler.Err] return that error. An Assembler is not safe for concurrent use.
type Assembler struct {
	features Features
	err      error
	count    int // instructions emitted

	code    []byte  // without branches and padding, which Finish lays out
	pieces  []piece // branches and padding, in order
	labels  []place
	refs    []reference
	pool    pool
	listing *listing

	in instruction // the current instruction
}

// New returns an empty Assembler that accepts baseline instructions and those of the extensions.
func New(features Features) *Assembler { return &Assembler{features: features} }

// Reset empties the assembler for another piece of code with these extensions. It keeps the buffers, and stops a listing.
func (a *Assembler) Reset(features Features) {
	a.features, a.err, a.count, a.listing = features, nil, 0, nil
	a.code, a.pieces, a.labels, a.refs = a.code[:0], a.pieces[:0], a.labels[:0], a.refs[:0]
	a.pool.reset()
}

// Features returns the extensions whose instructions a accepts.
func (a *Assembler) Features() Features { return a.features }

// Err returns the first error, or nil. After [Assembler.Finish] it returns an error even if Finish returned none.
func (a *Assembler) Err() error { return a.err }

// Count returns the number of instructions emitted.
func (a *Assembler) Count() int { return a.count }

func (a *Assembler) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("amd64: after %d instructions: %s", a.count, fmt.Sprintf(format, args...))
	}
}

// Emit appends an instruction. Operands are in Intel order, the destination first; a [Rounding] or a [Prefix] may stand
// anywhere among them.
func (a *Assembler) Emit(op Op, operands ...Operand) {
	if a.err != nil {
		return
	}
	a.take(a.in.set(op, operands))
}

// Begin starts an instruction whose operands are appended one at a time by the methods below, up to [Assembler.End]. Unlike
// [Assembler.Emit] it does not allocate an [Operand] per operand.
func (a *Assembler) Begin(op Op) { a.in.begin(op) }

// Reg appends a register operand to the current instruction.
func (a *Assembler) Reg(r Reg) { a.in.addReg(r) }

// Mem appends a memory operand to the current instruction.
func (a *Assembler) Mem(m *Mem) { a.in.addMem(m) }

// Imm appends an immediate operand to the current instruction.
func (a *Assembler) Imm(n Imm) { a.in.addImm(n) }

// Label appends a label operand to the current instruction.
func (a *Assembler) Label(l Label) { a.in.addLabel(l) }

// Prefix adds a prefix to the current instruction.
func (a *Assembler) Prefix(p Prefix) { a.in.setPrefix(p) }

// End emits the instruction that Begin started.
func (a *Assembler) End() {
	if a.err == nil {
		a.take(a.in.settle())
	}
}

// take emits the current instruction. It records an error if problem is not empty or no form fits.
func (a *Assembler) take(problem string) {
	in := &a.in
	if problem != "" {
		a.fail("%s: operand %d: %s", in.op, in.n+1, problem)
		return
	}
	if !in.match(a.features) {
		a.fail("%s", in.explain(a.features))
		return
	}
	a.listing.instruction(in)
	a.encode(in)
	a.count++
}

// MoveImm emits the shortest move of the value into the 64-bit register r that leaves the flags unchanged.
func (a *Assembler) MoveImm(r Reg, value int64) {
	if value >= 0 && value < 1<<32 {
		r = r.As(4) // a 32-bit move clears the upper half
	}
	a.Emit(MOV, r, Imm(value))
}
