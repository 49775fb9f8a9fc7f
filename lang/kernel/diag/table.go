package diag

// Entry describes a kind of diagnostic.
type Entry struct {
	ID      ID
	Warning bool
	Meaning string

	// Example is a kernel with the error, or empty if the error depends on more than the text. Parameter x is a buffer of f32,
	// k of i32, u of u32, n of i64, b of u8, and ps of a record. Parameter m is a two-dimensional buffer of f32.
	Example string
}

// Lookup returns the entry of an ID, or false if there is none.
func Lookup(id ID) (Entry, bool) {
	for _, e := range table {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Table returns all kinds of diagnostics, by subject.
func Table() []Entry { return append([]Entry(nil), table...) }

var table = []Entry{
	{ID: SyntaxError, Meaning: "The text is not valid JavaScript.", Example: "(g, x) => { x[0] = }"},
	{ID: TextTooLong, Meaning: "The kernel's text is longer than 256 KiB."},
	{ID: NotAFunction, Meaning: "The argument of kernel() is not a single function of the script.", Example: "class K {}"},
	{ID: AsyncKernel, Meaning: "A kernel, or a helper in it, is async or a generator.", Example: "async (g, x) => { x[0] = 1 }"},
	{ID: NoItemParameter, Meaning: "The kernel has no first parameter for the item object.", Example: "() => {}"},
	{ID: UnsupportedStmt, Meaning: "The statement is in JavaScript, but not in the kernel language.", Example: "(g, x) => { for (const v of x) x[0] += v }"},
	{ID: UnsupportedExpr, Meaning: "The expression is in JavaScript, but not in the kernel language.", Example: "(g, x) => { x[0] = typeof g }"},
	{ID: NoVar, Meaning: "Variables are declared with let and const.", Example: "(g, x) => { var i = g.x; x[i] = 1 }"},
	{ID: NoString, Meaning: "Text can be printed, but not computed with. Regular expressions and tagged templates are not in kernels.", Example: "(g, x) => { x[0] = 'text' }"},
	{ID: NoObject, Meaning: "Objects other than records are not in kernels.", Example: "(g, x) => { const a = new Float32Array(3); x[0] = a[0] }"},
	{ID: NoClosure, Meaning: "A function is called, never stored or computed with.", Example: "(g, x) => { x[0] = () => 1 }"},
	{ID: NoRecursion, Meaning: "Helper functions are inlined, so a function cannot call itself.", Example: "(g, x) => { const f = (n) => n > 0 ? f(n - 1) : 0; x[0] = f(3) }"},
	{ID: BadPattern, Meaning: "The destructuring does not fit, or has defaults or rest elements.", Example: "(g, x) => { const [a, b] = [1]; x[0] = a }"},
	{ID: DuplicateName, Meaning: "Two declarations of one block have the same name.", Example: "(g, x) => { const a = 1, a = 2; x[0] = a }"},
	{ID: MisplacedBreak, Meaning: "A break or continue has no statement to leave or continue, or a continue names a statement that is not a loop.", Example: "(g, x) => { a: { for (;;) continue a } }"},
	{ID: AssignConst, Meaning: "A constant, a captured variable or the item object is assigned.", Example: "(g, x) => { const a = 1; a = 2; x[0] = a }"},
	{ID: BadAssignTarget, Meaning: "The left side of an assignment cannot be assigned.", Example: "(g, x) => { x.length = 3 }"},
	{ID: UsedBeforeDeclared, Meaning: "A name is used above its declaration.", Example: "(g, x) => { x[0] = a; const a = 1 }"},
	{ID: ReadBeforeWritten, Meaning: "A variable is read where no value may have been assigned to it.", Example: "(g, x) => { let v; x[0] = v }"},
	{ID: ReferenceReassigned, Meaning: "A variable that names an array, record or function is assigned again.", Example: "(g, x, m) => { let row = m[0]; row = m[1]; x[0] = row[0] }"},

	{ID: UnknownName, Meaning: "The name is declared neither in the kernel nor in the script.", Example: "(g, x) => { x[0] = nowhere }"},
	{ID: NotCapturable, Meaning: "The script's value cannot be compiled into a kernel."},
	{ID: UnknownProperty, Meaning: "There is no such property in a kernel.", Example: "(g, x) => { x[0] = g.foo }"},
	{ID: UnknownMath, Meaning: "Math has no such function in a kernel.", Example: "(g, x) => { x[0] = Math.random() }"},

	{ID: ArgumentCount, Meaning: "The number of arguments is not that of the kernel's parameters."},
	{ID: ArgumentType, Meaning: "An argument has a type that kernels do not accept."},
	{ID: FractionForInt, Meaning: "The argument for an integer parameter is a fraction or out of range."},
	{ID: BadOption, Meaning: "An option of kernel() has an invalid value."},

	{ID: Mixed64, Meaning: "64-bit integers mix only with themselves and literals.", Example: "(g, n, k) => { n[0] = n[1] + k[0] }"},
	{ID: NotANumber, Meaning: "A number is required in the place of another value.", Example: "(g, x) => { x[0] = Math }"},
	{ID: NotAValue, Meaning: "One of two records or arrays is chosen at run time, and they are not parts of one array.", Example: "(g, x, m) => { x[0] = (g.x > 1 ? x : m[0])[0] }"},
	{ID: NotCallable, Meaning: "The called value is not a function.", Example: "(g, x) => { x[0] = x() }"},
	{ID: NotIndexable, Meaning: "The indexed value has no elements, or its elements cannot be chosen by a variable.", Example: "(g, x) => { x[0] = [g.y, 2][g.x] }"},
	{ID: IndexNotInteger, Meaning: "An index is a float or bool.", Example: "(g, x) => { x[x[0]] = 1 }"},
	{ID: IndexOutOfBounds, Meaning: "A constant index is outside of the array.", Example: "(g, x) => { x[-1] = 1 }"},
	{ID: TooFewIndices, Meaning: "An array or row is used as a number.", Example: "(g, x, m) => { x[0] = m[1] }"},
	{ID: TooManyIndices, Meaning: "A number or record is indexed.", Example: "(g, x) => { x[0][1] = 2 }"},
	{ID: ConstantTable, Meaning: "A kernel assigns an element of an array that it captures, or that is written out with constants. Such an array is constant in the kernel."},
	{ID: BadConversion, Meaning: "There is no such conversion.", Example: "(g, x) => { x[0] = i8(x[1]) }"},
	{ID: BadOperand, Meaning: "The operator does not work on numbers of that type.", Example: "(g, n) => { n[0] = n[1] >>> 1 }"},
	{ID: JoinFailed, Meaning: "The values of one variable, or the sides of ?: && ||, have no common type.", Example: "(g, n, k) => { let j = k[0]; j = n[0] }"},
	{ID: CallArguments, Meaning: "A function is called with arguments that it cannot take.", Example: "(g, x) => { x[0] = Math.sqrt() }"},
	{ID: HelperReturn, Meaning: "A helper returns a value only on some paths, or a kernel returns a value.", Example: "(g, x) => { return 3 }"},
	{ID: ValueUnused, Meaning: "The value of a call without a result is used.", Example: "(g, x) => { x[0] = g.barrier() }"},
	{ID: DivisionByZero, Meaning: "An integer is divided by a constant zero.", Example: "(g, k) => { k[0] = k[1] % 0 }"},
	{ID: BigIntTooLarge, Meaning: "A BigInt has more than 64 bits.", Example: "(g, n) => { n[0] = 1n << 70n }"},

	{ID: ArrayDims, Meaning: "An extent of an array is not a positive integer that is known when the kernel is compiled, or there are none.", Example: "(g, x) => { const a = g.private(f32, g.x); x[0] = a[0] }"},
	{ID: ArrayType, Meaning: "The type of an array is not an element type.", Example: "(g, x) => { const a = g.private(3, 4); x[0] = a[0] }"},
	{ID: FieldMissing, Meaning: "A record is assigned without all its fields.", Example: "(g, ps) => { ps[0] = {x: 1} }"},
	{ID: UnknownField, Meaning: "A record or object has no such field.", Example: "(g, ps) => { ps[0].w = 1 }"},
	{ID: WholeRecord, Meaning: "A record or array field is assigned something of another shape.", Example: "(g, ps) => { ps[0] = 3 }"},
	{ID: BadAtomic, Meaning: "There is no such atomic operation on that array.", Example: "(g, b) => { Atomics.add(b, 0, 1) }"},
	{ID: DivergentGroup, Meaning: "A barrier or group operation is in divergent control flow: items of one group may take different branches.", Example: "(g, x) => { if (g.x > 3) g.barrier() }"},
	{ID: TextOnlyInPrint, Meaning: "A template string is used outside of print and assert.", Example: "(g, x) => { x[0] = `text` }"},

	{ID: TooDeep, Meaning: "Conditions, loops or brackets nest too deeply."},
	{ID: TooBig, Meaning: "The kernel, or an array in it, is too big.", Example: "(g, x) => { const a = g.private(f32, 1e6); x[0] = a[0] }"},
	{ID: Internal, Meaning: "The compiler generated invalid code."},

	{ID: InexactConvert, Warning: true, Meaning: "An integer is rounded to become f32 if it is beyond 2²⁴.", Example: "(g, x, k) => { x[0] = x[1] * k[0] }"},
	{ID: InexactNumber, Warning: true, Meaning: "The type of a constant, captured number or argument does not hold its value: an integer of at most 2⁵³ is rounded, a number becomes 0 or infinite, or an integer type drops a fraction or high bits. There is no warning of fractions, which floats usually round, nor of factors and divisors. The warning is printed at the first launch.", Example: "(g, x) => { x[0] = x[1] + 99999043 }"},
	{ID: IntegerWraps, Warning: true, Meaning: "A result of 32-bit integers may differ from JavaScript's, in one of two cases. A sum, difference or product may wrap, or a join may make u32 of a negative number, and a float, a comparison or a division takes the result. Or a product may be beyond 2⁵³, where JavaScript rounds it, and a bit operation or a conversion takes its low bits. The warning is printed at the first launch in which this may happen.", Example: "(g, x, k) => { x[0] = k[0] * k[1] }"},
	{ID: RacyAccess, Warning: true, Meaning: "Work-items of one launch access the same element at the same time: they read and store it, so that changes get lost; they store different values; or one reads what another stores. The warning is printed at the first launch in which two items are known to do so, by the sizes, extents and numbers of the launch. There is no warning of atomic operations, accesses that a barrier separates, or equal values.", Example: "(g, x, k) => { x[0] += k[g.x] }"},
	{ID: SignedShift, Warning: true, Meaning: ">> of a u32 is arithmetic, as in JavaScript.", Example: "(g, u) => { u[0] = u[1] >> 3 }"},
	{ID: UnreachableCode, Warning: true, Meaning: "A statement is never executed.", Example: "(g, x) => { return; x[0] = 1 }"},

	// Reported by package advice for the optimized kernel.
	{ID: GatheredAccess, Warning: true, Meaning: "The elements that adjacent items access need not follow each other: the index is computed from data, has varying distances in a loop, or is limited for each item. Each access may then be a memory transaction of its own."},
	{ID: ContendedAtomic, Warning: true, Meaning: "All items perform atomic operations on one element, which serializes them."},
	{ID: StridedAccess, Warning: true, Meaning: "Items adjacent along x access elements that do not follow each other, but lie at a distance."},
	{ID: UnprovedCheck, Warning: true, Meaning: "An index in a loop is compared with its extent in each iteration. Another bound of the loop would make this check unnecessary. The check costs little, mostly a few per cent, and matters only in innermost loops. The warning appears only if the index is a variable: a computed index is as cheap to check as to compare. A launch whose size is within the extent needs no check of an index like g.x."},
	{ID: RaggedTile, Warning: true, Meaning: "The size of a launch is no multiple of its group size. In the last group the items beyond the size stored nothing to a shared array that others read."},
	{ID: NarrowGroups, Warning: true, Meaning: "A kernel reduces or scans over groups of several rows with fewer than 64 items each. A launch in two dimensions without groupSize has such groups, of 16 × 16."},
}
