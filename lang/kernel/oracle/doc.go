// Package oracle runs kernels on the two oracles, the interpreter and emitted JavaScript under node, and compares what
// they leave: memory bit for bit but for NaNs, faults and prints. It is for the tests of everything that runs kernel
// IR: a backend makes an [Outcome] of its own and gives it to [Case.Diff].
package oracle
