//go:build !unix

package status

import (
	"errors"
	"os"
)

// lockFolder fails: folders cannot be locked on this system.
func lockFolder(string) (*os.File, error) { return nil, errors.ErrUnsupported }
