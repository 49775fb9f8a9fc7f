// Package lower rewrites a kernel as leaves: operations that any GPU-like processor has, or that OpenCL C can express without
// undefined behaviour. A back end that prints leaves needs no other knowledge of the kernel language.
//
// [Lower] returns a kernel of package ir that follows these rules:
//
//   - Every operation is a leaf of the table [Leaves]: a required one, or an optional one of the [Target]. Operands satisfy the
//     precondition of the leaf. For example, a shift count is below the width.
//   - Accesses use a byte offset ([ir.StepByte]) and need no check.
//   - Faults, prints and calls write records in a buffer, the last parameter ([Kernel.Records]). The host reads faults and
//     prints with [Kernel.Read] after the launch, and answers calls with [Kernel.Calls] during it.
//   - Every item of every group runs the kernel, including items beyond the launch's size. In kernels with group operations all
//     items of a group reach every barrier, including absent and faulted items.
//   - The launch ends soon after the host sets the word [StopWord] of the records, unless [Options.Unpolled] is set.
//
// Package leaf interprets lowered kernels. It accepts only leaves and verifies each precondition.
//
// # Design
//
// A lowered kernel is ordinary IR with fewer operations. A leaf is an operation under a precondition, so printer, verifier
// and analyses work on it, and lowering can verify its own result.
//
// In kernels with group operations an item that had a fault runs on without effects, since a barrier waits for all items of a
// group. In other kernels the item returns.
//
// Calls go through slots of the records, which need only leaves that every target has. An item does one step in each
// iteration, so items in lockstep do not block the owner of a slot.
package lower
