package ir

// opDoc is the signature and the meaning of an operation.
type opDoc struct{ form, meaning string }

// opDocs is the operation reference. In each entry T stands for one type and S for another.
var opDocs = [numOps]opDoc{
	Const:   {"→ T", "the value of these bits"},
	Neg:     {"T → T", "negation; integers wrap"},
	Not:     {"T → T", "integers: every bit inverted; bool: true becomes false, and false true"},
	Abs:     {"T → T", "absolute value; the least signed integer is unchanged"},
	Sqrt:    {"T → T", "floats: square root, correctly rounded"},
	Floor:   {"T → T", "floats: the greatest integer not above"},
	Ceil:    {"T → T", "floats: the least integer not below"},
	Trunc:   {"T → T", "floats: the fraction dropped"},
	Round:   {"T → T", "floats: to the nearest integer, halves up; −0 for −0.5 to −0"},
	Rint:    {"T → T", "floats: to the nearest integer, halves to the even one"},
	Clz:     {"T → i32", "integers: leading zero bits; the width for 0"},
	Ctz:     {"T → i32", "integers: trailing zero bits; the width for 0"},
	Popcnt:  {"T → i32", "integers: bits that are 1"},
	Add:     {"T, T → T", "sum; integers wrap, floats round to nearest even"},
	Sub:     {"T, T → T", "difference"},
	Mul:     {"T, T → T", "product"},
	Div:     {"T, T → T", "integers: quotient truncated, the least by −1 wraps, by zero is a fault (0 with checks off); floats: correctly rounded"},
	Rem:     {"T, T → T", "integers: remainder with the sign of the dividend, by zero is a fault (0 with checks off); floats: exact, with the sign of the dividend"},
	Min:     {"T, T → T", "the lesser; NaN if one is NaN, −0 is less than +0"},
	Max:     {"T, T → T", "the greater; NaN if one is NaN, +0 is greater than −0"},
	MulHi:   {"T, T → T", "integers: the high half of the product of twice the width"},
	And:     {"T, T → T", "integers and bool: bitwise"},
	Or:      {"T, T → T", "integers and bool: bitwise"},
	Xor:     {"T, T → T", "integers and bool: bitwise"},
	Shl:     {"T, i32 or u32 → T", "integers: shifted left by the count modulo the width"},
	Shr:     {"T, i32 or u32 → T", "integers: shifted right by the count modulo the width; arithmetic if T is signed"},
	FMA:     {"T, T, T → T", "floats: a·b + c rounded once; made by the front end alone, and never split"},
	Select:  {"bool, T, T → T", "the second operand if the first is true, else the third"},
	Eq:      {"T, T → bool", "equal; NaN equals nothing, −0 equals +0"},
	Ne:      {"T, T → bool", "not equal"},
	Lt:      {"T, T → bool", "integers and floats: less; false for NaN"},
	Le:      {"T, T → bool", "integers and floats: less or equal; false for NaN"},
	Convert: {"S → T", "to the nearest value, ties to even: bool to integers and floats, integers to floats, floats to floats. Also 32-bit integers to 64-bit ones, and between 64-bit ones; both are modulo 2⁶⁴"},
	Sat:     {"S → T", "from floats to an integer type, saturating; fractions are dropped, NaN becomes 0"},
	Wrap:    {"S → T", "from integers and floats to an integer type, modulo its range; fractions are dropped, NaN and infinities become 0"},
	Bitcast: {"S → T", "the same bits, between types of one size except bool; NaN has the bits of the canonical one"},
	Quant:   {"T → T", "floats: rounded to the nearest value of T, or an f32 to that of f16 or bf16; ties to even; NaN becomes the canonical one"},
	Math:    {"T, … → T", "floats: the named function of the device library"},

	Load:   {"indices → T", "the element; small integers widen to i32, f16 and bf16 to f32; a bool byte other than 0 is true"},
	Store:  {"indices, T →", "sets the element; small integers keep the low bits, f16 and bf16 round to nearest even, NaN becomes the canonical one"},
	Atomic: {"indices, T, … → T", "global and shared memory, elements of 32 and 64 bits: changes the element in one step and returns the old value. The order is relaxed, the scope the device. cmpxchg takes the expected value, then the new one, and compares bits. A sum, difference, min or max that is NaN is stored as the canonical one"},
	Zero:   {"→", "sets a private array to zero"},
	Extent: {"→ i32", "an extent of a buffer, counted from the outermost"},

	Item:     {"→ i32", "a coordinate of the work-item: global, local, group, size, groupsize, groups of an axis, or lane, subgroupsize"},
	Barrier:  {"→", "waits for the whole group and orders its accesses to shared and global memory"},
	Reduce:   {"T → T", "integers and floats: the values of the group combined, in the order of I9.1"},
	Scan:     {"T → T", "integers and floats: the values up to and including the item's combined, or without it if exclusive, in the order of I9.2"},
	Subgroup: {"T, … → T", "add, min, max, scan_add of T; any, all of bool; ballot of bool to u64. broadcast, shuffle, shuffle_xor, shuffle_up, shuffle_down of T by an i32; an absent lane has 0"},
	Uniform:  {"T → T", "the value of the group's first item; a fault in items that have another"},

	Print:  {"T, … →", "prints the pieces of text with the values between them"},
	Assert: {"bool, T, … →", "a fault with the message if the first operand is false; assert.overflow is the fault of an integer that is beyond its type"},
	Call:   {"T, … → T or nothing", "calls the named service of the host"},

	Region:      {"→ T, …", "runs its block, which yield ends and break leaves early; version 2: with a name and operands it is an extension operation"},
	If:          {"bool → T, …", "runs one of two blocks"},
	Loop:        {"T, … → T, …", "runs its block until break, with carried values. They are first the operands, then those of continue"},
	Yield:       {"T, … →", "ends a block of if or block with its results"},
	Break:       {"T, … →", "leaves the enclosing block or loop with its results"},
	Continue:    {"T, … →", "runs the enclosing loop's block again"},
	Return:      {"→", "ends the work-item"},
	Unreachable: {"→", "marks code that control cannot reach; it ends the work-item if reached"},

	Fence: {"→", "version 2: orders the item's accesses: acquire, release or both; for the group, the device or the system"},
	Clock: {"→ u64", "version 2: nanoseconds, from a clock of the device that never goes back; its start is not specified"},
	Pause: {"→", "version 2: a hint that the item waits for others; it changes nothing"},
	Lib:   {"S, … → T, …", "version 2: the named function of the device library, with operands and results of any types, and arrays by reference"},
}

// Doc returns the operation's signature, as "operands → result", and its meaning, for manuals. Both are "" for a number
// that is no operation.
func (op Op) Doc() (form, meaning string) {
	if op >= numOps {
		return "", ""
	}
	return opDocs[op].form, opDocs[op].meaning
}
