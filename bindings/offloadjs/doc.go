// Package offloadjs is the script module 'offload': devices, buffers, queues, events, kernels and libraries of images
// as JavaScript objects over a [session.Session].
//
// Script objects keep a Go pointer and share one prototype per class; nothing is exposed by reflection. Waiting never
// blocks the script: another goroutine waits, and the promise is settled on the event loop.
package offloadjs
