package orepl

import (
	"github.com/orepl/orepl/lang/diag"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Code is the class of an error; docs/errors.md describes each.
type Code = contract.Code

// The codes on which programs decide. Errors have others, too.
const (
	CodeInvalidArgument  = contract.InvalidArgument // a value does not fit; see ErrRefused for those of a run's caller
	CodeNotFound         = contract.NotFound
	CodeUnsupported      = contract.Unsupported
	CodePermissionDenied = contract.PermissionDenied // by the policy
	CodeOutOfResources   = contract.OutOfResources   // a limit of device memory or launches
	CodeOutOfBounds      = contract.OutOfBounds      // of a kernel's access
	CodeCompileError     = contract.CompileError     // of a kernel
	CodeDeviceLost       = contract.DeviceLost
	CodeTimeout          = contract.Timeout
	CodeCancelled        = contract.Cancelled
	CodeClosed           = contract.Closed

	CodeSyntax        Code = "syntax"         // of a script
	CodeException     Code = "exception"      // thrown by a script
	CodeOutOfMemory   Code = "out-of-memory"  // the limit of a script's memory
	CodeStackOverflow Code = "stack-overflow" // the limit of nested calls
	CodeCrashed       Code = "crashed"        // the process of an isolated engine ended
)

// CodeOf returns the code of an error, or "" if it has none.
func CodeOf(err error) Code { return Code(diag.Code(err)) }
