// Package offloadjs implements the script module 'offload'. It exposes the devices, buffers, queues, events, kernels and
// libraries of a [session.Session] as JavaScript objects.
//
// A script object holds a Go pointer and shares one prototype per class; nothing is exposed by reflection. Asynchronous
// operations wait on another goroutine and settle their promises on the event loop.
package offloadjs
