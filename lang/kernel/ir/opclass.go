package ir

// Outside tests, only these predicates depend on the order of the operations. TestOpClasses lists the members of each.

// IsArith reports whether op is a constant, or computes its result only from its operands and fields. This includes integer
// divisions, which may fault.
func (op Op) IsArith() bool { return op >= Const && op <= Math }

// IsUnary reports whether op is arithmetic on one operand other than a conversion. The result has the operand's type or is a
// count of its bits.
func (op Op) IsUnary() bool { return op >= Neg && op <= Popcnt }

// IsRounding reports whether op rounds a float to an integer.
func (op Op) IsRounding() bool { return op >= Floor && op <= Rint }

// IsCompare reports whether op compares two values.
func (op Op) IsCompare() bool { return op >= Eq && op <= Le }

// IsConvert reports whether op converts a value to another type, or rounds it to another type's values.
func (op Op) IsConvert() bool { return op >= Convert && op <= Quant }

// IsMemory reports whether op accesses the array in [Instr.Array] or reads its extent.
func (op Op) IsMemory() bool { return op >= Load && op <= Extent }

// IsItem reports whether op reads the item's coordinates, or is a group or subgroup operation.
func (op Op) IsItem() bool { return op >= Item && op <= Uniform }

// IsGroup reports whether op is a group operation, which all items of the group execute in uniform control flow.
func (op Op) IsGroup() bool { return op == Barrier || op == Reduce || op == Scan || op == Uniform }

// IsHost reports whether op prints, asserts, or calls a host service.
func (op Op) IsHost() bool { return op >= Print && op <= Call }

// IsStructured reports whether op has nested blocks.
func (op Op) IsStructured() bool { return op >= Region && op <= Loop }

// IsTerminator reports whether op ends a block.
func (op Op) IsTerminator() bool { return op >= Yield && op <= Unreachable }

// IsJump reports whether op is a terminator other than [Yield].
func (op Op) IsJump() bool { return op >= Break && op <= Unreachable }

// IsVersion2 reports whether op requires version 2 of the text and binary forms.
func (op Op) IsVersion2() bool { return op > Unreachable }

// isKnown reports whether op is an operation.
func (op Op) isKnown() bool { return op > Invalid && op < numOps }
