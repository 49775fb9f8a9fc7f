// Package ptxrun interprets the subset of PTX that package ptx emits, on this machine and without a driver. Tests use it: results
// of kernels are compared bit for bit with those of the interpreter, and a stand-in of the driver runs kernels with it.
//
// [Parse] does the checks of the vendor's assembler: declarations, labels, and types of operands. Registers begin with bits that
// no kernel expects. Results that PTX leaves open, such as those of a division by zero, are errors. NaNs have the bits
// that processors return, which differ from those of the IR. Source: PTX ISA 7.0, sections on instructions and state spaces.
package ptxrun
