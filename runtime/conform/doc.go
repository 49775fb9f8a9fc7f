// Package conform is the conformance suite that every plugin must pass, on every device that it offers.
//
//	results, err := conform.Run(ctx, plugin, "cpu", conform.Options{})
//
// Most cases use a device through package session, as scripts do. Others call the contract directly, to test refusals that a
// session would make first. The kernels are portable kernel IR: testdata/kernels.ir and its binary form. A test in folder tests
// checks that the two agree.
package conform
