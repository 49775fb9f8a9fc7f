// Package ptxrun interprets the PTX subset that package ptx emits, on the host and without a driver. Tests compare its results
// bit for bit with the IR interpreter's, and a simulated driver runs kernels with it.
//
// [Parse] performs the checks of the vendor's assembler: declarations, labels, and operand types. Registers start with
// arbitrary bits. Results that PTX leaves undefined, such as those of a division by zero, are errors. NaNs have the bits that
// processors return, which differ from those of the IR. Source: PTX ISA 7.0, sections on instructions and state spaces.
//
// # Design
//
// No machine of continuous integration has an NVIDIA device. The interpreter reads the text that the driver would get,
// leaves registers and shared memory uncleared, and refuses the cases that PTX leaves undefined. It cannot find an error
// that its author shares with the emitter's.
package ptxrun
