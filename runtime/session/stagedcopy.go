package session

import "slices"

// copyStaged copies between devices that cannot access each other's memory, in blocks through host memory. Submitting one block
// overlaps retrieving the next. It only issues commands, to q and to the other device's default queue.
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
	if err := far.follow(q); err != nil { // the copy runs after the commands issued to q
		return err
	}
	var stages [2]*stage
	defer func() {
		pending := currentFences(in, out)
		for _, s := range stages {
			if s != nil {
				q.device.giveBack(slices.Clone(pending), func() { q.device.returnStage(s) })
			}
		}
	}()
	for i := range stages {
		if stages[i], err = q.device.takeStage(); err != nil {
			return err
		}
	}
	var submitted [2]fence
	size := dst.Size()
	for i, offset := 0, int64(0); offset < size; i, offset = 1-i, offset+stageBytes {
		n := min(stageBytes, size-offset)
		host := stages[i].bytes[:n]
		if submitted[i].event != nil {
			if err := out.followFence(in, submitted[i]); err != nil {
				return err
			}
		}
		if err := out.command("copy", src.access(offset, n, false), func() error {
			return out.raw.Retrieve(host, src.span(offset, n))
		}); err != nil {
			return err
		}
		if err := in.follow(out); err != nil {
			return err
		}
		if err := in.command("copy", dst.access(offset, n, true), func() error {
			return in.raw.Submit(dst.span(offset, n), host)
		}); err != nil {
			return err
		}
		if submitted[i], err = in.fence(in.issued.Load()); err != nil {
			return err
		}
	}
	return q.follow(far) // later commands in q follow the copy
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

// follow makes later commands of q wait for those issued to other so far.
func (q *Queue) follow(other *Queue) error {
	if err := q.enter("copy", nil, false); err != nil {
		return err
	}
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
