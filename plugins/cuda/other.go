//go:build !(linux && (amd64 || arm64))

package cuda

import (
	"context"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
)

func open(_ context.Context, o Options) (offload.Platform, error) {
	_, err := driver.Open(o.Library)
	return nil, absent(err)
}
