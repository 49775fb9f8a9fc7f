// Package passes transforms functions of package vcode between instruction selection and register allocation.
//
// [Run] runs the passes of one table, in its order. A pass is a function of a [vcode.Func] in a separate file. Its entry in
// the table has its name, the passes that must run before it, and the reason. A test checks that the order of the table
// meets these constraints.
//
// Package opt optimizes loops in the IR. The passes here optimize what lowering adds, such as address arithmetic and the
// loops over rows and gangs.
//
// To add a pass, write a function in a new file, and add an entry to the table. OREPL_DEBUG=dump=DIR writes the function
// before the first pass, and after each one, to files in DIR.
//
// # Design
//
// Passes stand in a table with the passes that must run before them, and a test checks it. Dumps are written from the same
// table.
package passes
