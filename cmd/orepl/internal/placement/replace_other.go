//go:build !unix

package placement

import "errors"

// replace returns an error: launchers of MPI run on Unix.
func replace([]string) error { return errors.ErrUnsupported }
