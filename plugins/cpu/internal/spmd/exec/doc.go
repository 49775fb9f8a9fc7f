// Package exec runs compiled code: it keeps the memory of workers, calls the code, and serves its traps.
//
// A [Code] is a kernel in machine code with the tables that traps need. [NewVariant] maps it into executable memory, which is
// freed after the [Variant] has become unreachable. A [Worker] is the memory in which one goroutine runs units of the code,
// work-groups or gangs: the context, and the frames of gangs. It calls the code by a guard of package process.
//
// When the code traps, it has saved its registers in the context. The worker reads each lane's operands from the registers and
// slots that regalloc assigned. It serves the trap, stores the results and resumes the code.
//
// # Design
//
// Traps save every register, since they are rare, and Go then finds any operand at a fixed place.
package exec
