// Package oracle runs kernels on the two oracles, the interpreter and emitted JavaScript under node, and compares
// their outcomes: memory bit for bit but for NaNs, faults and prints. It is for tests of back ends: they make an
// [Outcome] of their own and pass it to [Case.Diff].
package oracle
