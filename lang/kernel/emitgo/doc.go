// Package emitgo prints scalar functions as Go, for use on the host with the same bits as in kernels.
//
// Its input is typed IR, so every rounding and wrap is explicit. Go may fuse a product with a sum unless the product is
// converted explicitly, so each one is; the IR's fused multiply-add becomes math.FMA.
package emitgo
