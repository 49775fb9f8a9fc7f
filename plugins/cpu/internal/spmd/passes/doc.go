// Package passes transforms functions of package vcode between instruction selection and register allocation.
//
// [Run] runs the passes of one table, in its order. A pass is a function of a [vcode.Func] in a file of its own; an entry of
// the table names the pass, the passes that must run before it, and why. A test checks that the order of the table meets
// these constraints.
//
// The IR of kernels has passes of its own (package opt): loops that it can see are optimised there. The passes here see
// what lowering adds, such as address arithmetic and the loops over rows and gangs.
//
// To add a pass, write a function in a new file, and add an entry to the table. OREPL_DEBUG=dump=DIR writes the function
// before the first pass, and after each one, to files in DIR.
package passes
