//go:build !(linux && amd64) || nonative

package process

import "unsafe"

// Supported reports whether [Guard] and [NewCode] work in this build.
func Supported() bool { return false }

// Guard is unavailable in this build.
type Guard struct{}

// NewGuard returns [ErrUnsupported] in this build.
func NewGuard() (Guard, error) { return Guard{}, ErrUnsupported }

// Free does nothing in this build.
func (Guard) Free() {}

// Call returns [ErrUnsupported] in this build.
func (Guard) Call(uintptr, unsafe.Pointer) error { return ErrUnsupported }

// CallHere returns [ErrUnsupported] in this build.
func (Guard) CallHere(uintptr, unsafe.Pointer) error { return ErrUnsupported }

// guarding returns false in this build.
func guarding(int, uintptr) bool { return false }

// Interrupt does nothing in this build.
func (Guard) Interrupt(low, high uintptr, anywhere bool) {}

// Resume does nothing in this build.
func (Guard) Resume() {}

// endedText describes a call that did not return. No code is guarded here.
func endedText(number int, argument uintptr) string { return "it called a function that ends it" }

// reportCrashes does nothing in this build: the Go runtime reports crashes of libraries.
func reportCrashes() {}
