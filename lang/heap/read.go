package heap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

var errNoRoom = errors.New("is larger than the memory that the machine has for this process")

// ReadAll reads to the end. size is the expected number of bytes, or 0. The read fails if there are more bytes than the limit, unless
// that is 0, or more than the machine has memory for. It stops when the context is cancelled, even if the reader is endless.
func ReadAll(ctx context.Context, r io.Reader, size int64, limit uint64) ([]byte, error) {
	const first, small, often = 4 << 10, 64 << 10, 16 << 20
	tooLarge := func() error { return fmt.Errorf("is larger than the memory limit of %s", Text(limit)) }
	if limit > 0 && uint64(size) > limit {
		return nil, tooLarge()
	}
	data := make([]byte, 0, first)
	if size > 0 {
		if size > small && !FitsMachine(uint64(size)) {
			return nil, errNoRoom
		}
		data = make([]byte, 0, size+1) // one spare byte detects the end
	}
	for {
		if len(data) == cap(data) {
			if cap(data) >= often && !FitsMachine(2*uint64(cap(data))) {
				return nil, errNoRoom
			}
			data = slices.Grow(data, cap(data))
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+often)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		switch {
		case err == nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		case err == nil && limit > 0 && uint64(len(data)) > limit:
			err = tooLarge()
		}
		if err != nil {
			return nil, err
		}
	}
}
