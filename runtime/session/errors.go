package session

import (
	"context"
	"errors"

	"github.com/orepl/orepl/runtime/offload"
)

const freedHint = "free a buffer after its last use; a view ends with the buffer it belongs to"

func closedError(op, kind, label string) *offload.Error {
	if kind == "buffer" {
		return offload.Errorf(offload.Closed, op, "the buffer has been freed").On("", label).WithHint(freedHint)
	}
	return offload.Errorf(offload.Closed, op, "the %s has been closed", kind).On("", label)
}

// contextError returns the error of an ended context, or nil.
func contextError(ctx context.Context, op string) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	code := offload.Cancelled
	if errors.Is(err, context.DeadlineExceeded) {
		code = offload.Timeout
	}
	return &offload.Error{Code: code, Op: op, Err: context.Cause(ctx)}
}

// located returns a copy of a plugin's error with the session's names of the device and the object, where it has none. It
// returns an error with both names, or of another type, unchanged.
func located(err error, device, label string) error {
	e, ok := err.(*offload.Error)
	if !ok || e.Device != "" && (e.Label != "" || label == "") {
		return err
	}
	c := *e
	if c.Device == "" {
		c.Device = device
	}
	if c.Label == "" {
		c.Label = label
	}
	return &c
}
