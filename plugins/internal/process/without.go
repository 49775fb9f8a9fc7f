//go:build nonative

package process

// NoNative reports whether the program was built with the tag nonative: without native code and purego, statically linked.
const NoNative = true
