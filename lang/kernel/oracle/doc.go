// Package oracle runs kernels on two oracles, the interpreter and emitted JavaScript under Node. It compares their outcomes:
// faults, prints, and memory bit for bit, where [Case.DiffNode] takes a signalling NaN for the quiet one. Tests of back ends
// produce an [Outcome] of their own and pass it to [Case.Diff].
//
// # Design
//
// The second oracle is Node, which shares no code with this module. The interpreter of scripts would not do: its ToInt32 is
// wrong beyond 2⁶³.
//
// A fault report names the lowest item of the first group, so that oracles can compare it.
package oracle
