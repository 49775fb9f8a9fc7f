//go:build !noimages

package main

import _ "embed"

// bundle holds the kernels for every target that this program is shipped with.
//
//go:generate orepl kernel kernels.js -o kernels.offload
//go:embed kernels.offload
var bundle []byte
