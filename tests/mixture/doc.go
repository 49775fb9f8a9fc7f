// Package mixture generates random programs for several devices, and computes their results by a sequential model. In it each
// command takes effect before the next one is issued. A script runs the programs and compares what the devices return.
//
// The commands are copies, boxes, fills, launches, writes, reads, collectives, host functions, events and frees, on default queues,
// further queues and queues without automatic waits. Nothing waits for a result before the end of its program, except where the
// program says so.
package mixture
