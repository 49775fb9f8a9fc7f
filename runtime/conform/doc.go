// Package conform is the conformance suite that every plugin must pass, on every device that it offers.
//
//	results, err := conform.Run(ctx, plugin, "cpu", conform.Options{})
//
// A case uses a device as scripts do, through package session, and the contract itself where sessions refuse what a
// plugin must refuse too. Its kernels are portable kernel IR: testdata/kernels.ir, and its binary form beside it, which
// a test in folder tests keeps up to date.
package conform
