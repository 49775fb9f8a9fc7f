// Package offloadjs implements the script module 'offload'. It exposes the devices, buffers, queues, events, kernels and
// libraries of a [session.Session] as JavaScript objects.
//
// A script object holds a Go pointer and shares one prototype per class; nothing is exposed by reflection. Asynchronous
// operations wait on another goroutine and settle their promises on the event loop.
//
// The rooms below it implement the classes. Each of these has a type Module with its state in one engine; this package connects
// them:
//
//	types, devices → queues → buffers → capture → launch → images, pipelines
//
// # Design
//
// Streams of CSV use queues of their own, so that their writes wait for no kernel of the script.
package offloadjs
