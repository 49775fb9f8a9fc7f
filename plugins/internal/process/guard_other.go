//go:build !(linux && amd64) || nonative

package process

import "unsafe"

// Supported reports whether [Guard] and [NewCode] work on this platform.
func Supported() bool { return false }

// Guard is unavailable on this platform.
type Guard struct{}

// NewGuard returns [ErrUnsupported] on this platform.
func NewGuard() (Guard, error) { return Guard{}, ErrUnsupported }

// Free does nothing on this platform.
func (Guard) Free() {}

// Call returns [ErrUnsupported] on this platform.
func (Guard) Call(uintptr, unsafe.Pointer) error { return ErrUnsupported }

// CallHere returns [ErrUnsupported] on this platform.
func (Guard) CallHere(uintptr, unsafe.Pointer) error { return ErrUnsupported }

// guarding returns false on this platform.
func guarding(int, uintptr) bool { return false }

// Interrupt does nothing on this platform.
func (Guard) Interrupt(low, high uintptr, anywhere bool) {}

// Resume does nothing on this platform.
func (Guard) Resume() {}

// endedText describes a call that did not return. No code is guarded here.
func endedText(number int, argument uintptr) string { return "it called a function that ends it" }

// reportCrashes does nothing on this platform: the Go runtime reports crashes of libraries.
func reportCrashes() {}
