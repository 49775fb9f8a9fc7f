//go:build !(linux && (amd64 || arm64)) || nonative

package cuda

import (
	"context"
	"errors"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

func open(_ context.Context, o Options) (offload.Platform, error) {
	_, err := driver.Open(o.Library)
	err = absent(err)
	var e *offload.Error
	if process.NoNative && errors.As(err, &e) {
		e.Hint = "build it without the tag"
	}
	return nil, err
}
