// Package emitgo writes functions of scalars as Go: what runs on the host with the bits that kernels have.
//
// It takes typed IR, so that every rounding and wrap is spelled out. Go may fuse a product with a sum unless the product
// is converted explicitly, so each one is; the IR's fused multiply-add becomes math.FMA.
package emitgo
