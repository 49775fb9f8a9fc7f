//go:build !(linux && (amd64 || arm64)) || nonative

package opencl

import (
	"context"
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

func open(_ context.Context, o Options) (offload.Platform, error) {
	_, err := cl.Open(o.Library)
	err = absent(err)
	var e *offload.Error
	if process.NoNative && errors.As(err, &e) {
		e.Hint = "build it without the tag"
	}
	return nil, err
}
