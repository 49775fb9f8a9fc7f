// Package offloadjs implements the script module 'offload'. It exposes the devices, buffers, queues, events, kernels and
// libraries of a [session.Session] as JavaScript objects.
//
// A script object holds a Go pointer and shares one prototype per class; nothing is exposed by reflection. Asynchronous
// operations wait on another goroutine and settle their promises on the event loop.
//
// # Design
//
// Only events are light objects of the interpreter. They are cheap to make and slow to read; buffers and kernels are made
// once and read often.
//
// buffer(f32, [1, 2, 3]) warns, since an array of numbers is extents, and users of NumPy expect values.
//
// Streams of CSV use queues of their own, so that their writes wait for no kernel of the script.
package offloadjs
