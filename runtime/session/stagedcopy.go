package session

import (
	"context"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// smallStage is the size up to which a copy's host memory is its own, in bytes. Larger copies share blocks.
const smallStage = 256 << 10

// copyStaged copies between devices that cannot access each other's memory. If the host can access one of the memories, the
// other device's queue copies, else the bytes go through host memory. It only issues commands, to q and to the other device's
// default queue.
func (q *Queue) copyStaged(dst, src *Buffer) error {
	other := src.alloc.device
	if q.device == other {
		other = dst.alloc.device
	}
	far, err := other.Queue()
	if err != nil {
		return err
	}
	in, out := q, far // in submits to dst, out retrieves from src
	if q.device == src.alloc.device {
		in, out = far, q
	}
	if !q.copiedLast(far) { // otherwise far follows the commands before that copy
		if err := far.follow(q); err != nil { // the copy runs after the commands issued to q
			return err
		}
	}
	switch size := dst.Size(); {
	case far.reaches(dst) || far.reaches(src):
		t := pair(dst.access(0, size, true), src.access(0, size, false))
		if err := far.enter("copy", t[:], false); err != nil {
			return err
		}
		err := far.copyRange(dst, src, 0, 0, size)
		far.exit(t[:], err == nil)
		if err != nil {
			return located(err, far.device.id, dst.label)
		}
	case size <= smallStage:
		if err := stageBlock(in, out, dst, src, 0, make([]byte, size)); err != nil {
			return err
		}
	default:
		if err := q.copyBlocks(in, out, dst, src); err != nil {
			return err
		}
	}
	if err := q.follow(far); err != nil { // later commands in q follow the copy
		return err
	}
	q.mu.Lock()
	q.copied = position{far, q.issued.Load()}
	q.mu.Unlock()
	return nil
}

// copiedLast reports whether the newest commands of q are those of a staged copy with the queue far.
func (q *Queue) copiedLast(far *Queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.copied == position{far, q.issued.Load()}
}

// stageBlock copies bytes from an offset through host memory: out retrieves, and in submits.
func stageBlock(in, out *Queue, dst, src *Buffer, offset int64, host []byte) error {
	n := int64(len(host))
	if err := out.command("copy", src.access(offset, n, false), func() error {
		c := out.begin()
		err := out.raw.Retrieve(host, src.span(offset, n))
		c.end(trace.Copy, "copy to host", n, err)
		return err
	}); err != nil {
		return err
	}
	if err := in.follow(out); err != nil {
		return err
	}
	return in.command("copy", dst.access(offset, n, true), func() error {
		c := in.begin()
		err := in.raw.Submit(dst.span(offset, n), host)
		c.end(trace.Copy, "copy from host", n, err)
		return err
	})
}

// copyBlocks copies through one or two blocks of host memory. Submitting one block overlaps retrieving the next.
func (q *Queue) copyBlocks(in, out *Queue, dst, src *Buffer) (err error) {
	size := dst.Size()
	block := blockFor(size)
	var stages []*stage
	defer func() {
		pending := currentFences(in, out)
		for _, s := range stages {
			q.device.leaveStage(s)
			q.device.retired.Add(slices.Clone(pending), 0, func() { q.device.returnStage(s) })
		}
	}()
	for range min(2, (size+block-1)/block) {
		s, err := q.device.takeStage(block, in, out)
		if err != nil {
			return err
		}
		stages = append(stages, s)
	}
	for i, offset := 0, int64(0); offset < size; i, offset = (i+1)%len(stages), offset+block {
		s := stages[i]
		if s.last.event != nil {
			if err := out.followFence(in, s.last); err != nil {
				return err
			}
		}
		if err := stageBlock(in, out, dst, src, offset, s.bytes[:min(block, size-offset)]); err != nil {
			return err
		}
		if s.last, err = in.fence(in.issued.Load()); err != nil {
			return err
		}
	}
	return nil
}

// currentFences returns fences after the commands issued so far. A closed queue has run all of its commands.
func currentFences(queues ...*Queue) []fence {
	var list []fence
	for _, q := range queues {
		if m, err := q.fence(q.issued.Load()); err == nil {
			list = append(list, m)
		}
	}
	return list
}

// command issues one command with one access.
func (q *Queue) command(op string, t access, run func() error) error {
	ts := [1]access{t}
	if err := q.enter(op, ts[:], false); err != nil {
		return err
	}
	err := run()
	q.exit(ts[:], err == nil)
	return located(err, q.device.id, t.res.label)
}

var holding sync.Mutex // held during Hold

// Hold makes commands of other goroutines wait before they are issued to the queues, until release is called. Only parts of joint launches
// pass. Another command could wait for one part, and a later part for that command. Hold first waits until the queues have space, and
// until an earlier Hold is released. Its error is that of WaitForSpace.
func Hold(ctx context.Context, queues []*Queue) (release func(), err error) {
	for _, q := range queues {
		if err := q.WaitForSpace(ctx); err != nil {
			return nil, err
		}
	}
	set := func(held bool) {
		for _, q := range queues {
			q.mu.Lock()
			if held {
				q.held = sync.NewCond(&q.mu)
			} else {
				q.held.Broadcast()
				q.held = nil
			}
			q.mu.Unlock()
		}
	}
	holding.Lock()
	set(true)
	return func() { set(false); holding.Unlock() }, nil
}

// Join issues a part of copies between several devices, as [offload.Mover] returned it. The part writes the buffer, or reads it.
// Without a part, Join only makes the queue wait for the commands of other queues with which a later part will conflict. All queues of a
// joint launch are to be held, and to wait before its first part is issued. A wait for a queue covers all that was issued to it.
func (q *Queue) Join(op string, b *Buffer, write bool, part *offload.Launch) error {
	if err := q.check(op, b, 0, 0); err != nil {
		return err
	}
	t := b.access(0, b.Size(), write)
	t.joint = true
	return q.command(op, t, func() error {
		if part == nil {
			return nil
		}
		part.Args = []offload.Arg{{Type: offload.U8, Memory: b.alloc.raw, Offset: b.offset}}
		c := q.begin()
		err := q.raw.Launch(part)
		c.end(trace.Copy, op, b.Size(), err)
		return err
	})
}

// follow makes later commands of q wait for those issued to other so far.
func (q *Queue) follow(other *Queue) error {
	if err := q.enter("copy", nil, false); err != nil {
		return err
	}
	q.need(other, other.issued.Load(), "copy", "")
	err := q.waitFor(other, other.issued.Load())
	q.exit(nil, err == nil)
	return err
}

func (q *Queue) followFence(other *Queue, m fence) error {
	if err := q.enter("copy", nil, false); err != nil {
		return err
	}
	err := q.waitForFence(other, m)
	q.exit(nil, err == nil)
	return err
}
