// Package ranks connects the processes of a job that run the same script, for messages and for collective operations with defined
// results. A process is known by its rank, which counts from 0.
//
// All ranks of a group call the same collective operations in the same order. Ranks that need the message of one that calls none
// wait. They fail when its script or their context ends, or a rank is lost.
//
// # Design
//
// Operations are made of messages on byte streams, so that they work over any stream, and end if a process is lost.
//
// A message of a collective operation has its kind and root, which the receiver compares with its own. Members that differ may each
// wait for a message that no other one sends. So a member that waits long tells the sender what it waits for.
//
// A receiver keeps messages that arrive early, so that a sender never waits for the call that receives.
//
// Buffers of large messages serve later ones, since page faults of new memory took up to four fifths of the time of an allReduce.
//
// Reductions combine the data of ranks in their order, ((r0 + r1) + r2) and so on. The bits do not depend on the algorithm.
package ranks

import (
	"context"
	"io"
)

// Links are the streams between the processes of a job.
type Links interface {
	// Rank is the number of this process, Size the number of processes.
	Rank() int
	Size() int
	// Dial opens a stream to another process.
	Dial(rank int) (io.WriteCloser, error)
	// Serve calls accept for each stream that another process opens. It calls left when a process has ended its script, with a
	// nil error, and when one is lost. accept and left return soon. Streams of a process that has ended may still have data.
	Serve(accept func(rank int, r io.ReadCloser), left func(rank int, why error))
	// Expect adds by to the number of messages that this process waits for. It returns soon.
	Expect(by int)
}

// Member is implemented by plugins whose process may be one of several that run the same script.
type Member interface {
	// Links returns the streams to the other processes. It may return nil if there are none. It waits until all processes have begun, or
	// ctx ends.
	Links(ctx context.Context) (Links, error)
}
