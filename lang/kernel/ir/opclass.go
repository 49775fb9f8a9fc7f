package ir

// The predicates below are the only code that depends on the order of the operations. TestOpClasses lists the members of each.

// IsArith reports whether op is a constant, or computes its result from its operands and its own fields alone. Integer
// divisions are among them, and may fault.
func (op Op) IsArith() bool { return op >= Const && op <= Math }

// IsUnary reports whether op is arithmetic on one operand, whose result has the operand's type or counts its bits.
func (op Op) IsUnary() bool { return op >= Neg && op <= Popcnt }

// IsRounding reports whether op rounds a float to an integer.
func (op Op) IsRounding() bool { return op >= Floor && op <= Rint }

// IsCompare reports whether op compares two values.
func (op Op) IsCompare() bool { return op >= Eq && op <= Le }

// IsConvert reports whether op changes the type of a value, or rounds it to the values of another type.
func (op Op) IsConvert() bool { return op >= Convert && op <= Quant }

// IsMemory reports whether op accesses an array or reads its extent.
func (op Op) IsMemory() bool { return op >= Load && op <= Extent }

// IsItem reports whether op reads the item's position, or is an operation of its group or subgroup.
func (op Op) IsItem() bool { return op >= Item && op <= Uniform }

// IsGroup reports whether op is a group operation: all items of the group take part, in uniform control flow.
func (op Op) IsGroup() bool { return op == Barrier || op == Reduce || op == Scan || op == Uniform }

// IsHost reports whether op prints, asserts, or calls a host service.
func (op Op) IsHost() bool { return op >= Print && op <= Call }

// IsStructured reports whether op has nested blocks.
func (op Op) IsStructured() bool { return op >= Region && op <= Loop }

// IsTerminator reports whether op ends a block.
func (op Op) IsTerminator() bool { return op >= Yield && op <= Unreachable }

// IsJump reports whether op ends a block without passing control to the next instruction of the block around it.
func (op Op) IsJump() bool { return op >= Break && op <= Unreachable }

// IsVersion2 reports whether version 1 of the forms lacks op.
func (op Op) IsVersion2() bool { return op > Unreachable }

// isKnown reports whether op is an operation.
func (op Op) isKnown() bool { return op > Invalid && op < numOps }
