// Command embed-kernels runs kernels that were compiled ahead of time and embedded with go:embed. Its code does not depend
// on the targets in the container: without a suitable image it computes on the host and reports that.
//
// Images can be omitted at build time (go build -tags noimages), or dropped from the built program:
//
//	orepl image list embed-kernels
//	orepl image drop --target ir embed-kernels
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

func main() {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	defer rt.Close()
	x := []float32{1, 2, 3, 4, 5}
	y, where, err := squares(ctx, rt, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y, "on", where)
}

// squares returns the squares of x, and the place where they were computed.
func squares(ctx context.Context, rt *orepl.Runtime, x []float32) (y []float32, where string, err error) {
	lib, err := rt.Register(ctx, "kernels.offload", bundle)
	if offload.CodeOf(err) == offload.InvalidBinary {
		return onHost(x), fmt.Sprintf("the host: %v", err), nil
	}
	if err != nil {
		return nil, "", err
	}
	defer lib.Unregister(ctx)
	dev, err := rt.Session().DeviceFor(ctx, lib)
	if err != nil {
		return nil, "", err
	}
	k, err := lib.Kernel(ctx, dev, "square")
	if err != nil {
		return nil, "", err
	}
	in, err := session.BufferOf(ctx, dev, "x", x)
	if err != nil {
		return nil, "", err
	}
	defer in.Free()
	out, err := dev.NewBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{len(x)}, Label: "y"})
	if err != nil {
		return nil, "", err
	}
	defer out.Free()
	call, err := k.Bind(session.Config{Size: []int{len(x)}}, session.Buf(in), session.Buf(out))
	if err != nil {
		return nil, "", err
	}
	q, err := dev.Queue()
	if err != nil {
		return nil, "", err
	}
	if err := q.Launch(call); err != nil {
		return nil, "", err
	}
	y, err = session.Read[float32](ctx, out, 0, int64(len(x)))
	return y, dev.ID(), err
}

// onHost computes the squares without a device.
func onHost(x []float32) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v * v
	}
	return y
}
