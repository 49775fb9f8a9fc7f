// Package oracle runs kernels on two oracles, the interpreter and emitted JavaScript under Node. It compares their outcomes:
// faults, prints, and memory bit for bit except NaNs. Tests of back ends produce an [Outcome] of their own and pass it to
// [Case.Diff].
package oracle
