//go:build !(linux && (amd64 || arm64))

package opencl

import (
	"context"

	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

func open(_ context.Context, o Options) (offload.Platform, error) {
	_, err := cl.Open(o.Library)
	return nil, absent(err)
}
