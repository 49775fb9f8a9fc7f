// Package conform is the conformance suite that every plugin must pass, on every device that it offers.
//
//	results, err := conform.Run(ctx, plugin, "cpu", conform.Options{})
//
// A case uses a device through package session, as scripts do, and through the contract itself to test refusals that a
// session would make first. Its kernels are portable kernel IR: testdata/kernels.ir, and its binary form beside it, which
// a test in folder tests keeps up to date.
package conform
