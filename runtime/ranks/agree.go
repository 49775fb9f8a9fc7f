package ranks

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	// announceAfter is the time for which a member waits for a message before it announces its operation to the sender.
	announceAfter = 100 * time.Millisecond
	// announcement is the step of a message that announces an operation. It has no data.
	announcement = math.MaxUint32
	// remembered is the number of its latest operations that a process compares with those of others.
	remembered = 1024
)

// call identifies a collective operation.
type call struct{ context, number uint64 }

// begun is a collective operation that has begun at this process.
type begun struct {
	g     *Group
	kind  kind
	root  int
	ended bool
	sent  []<-chan error // results of telling the other members of a difference
}

// differs returns an error if the operation of another process differs in kind or root.
func (b *begun) differs(other *told) error {
	from, me := slices.Index(b.g.members, other.from), b.g.rank
	switch {
	case other.kind != b.kind:
		return disagreement(b.kind, offload.InvalidArgument, "rank %d calls %s where rank %d calls %s", from, other.kind, me, b.kind)
	case other.root != b.root:
		return disagreement(b.kind, offload.InvalidArgument, "rank %d names the root %d, rank %d the root %d", from, other.root, me, b.root)
	}
	return nil
}

// told describes the operation of another process, as a message of it says.
type told struct {
	from int // rank in the world
	kind kind
	root int
}

// agreement compares the collective operations of this process with those of others. The mutex of the world guards it.
type agreement struct {
	begun map[call]*begun
	order []call            // the keys of begun, oldest first
	early map[call][]told   // of operations that have not begun here: one for each kind and root
	last  map[uint64]uint64 // number of the latest operation of each group that has begun here
	late  map[uint64]error  // by group: a difference of an operation that had ended here, which the next one is to report
}

func newAgreement() agreement {
	return agreement{begun: map[call]*begun{}, early: map[call][]told{}, last: map[uint64]uint64{}, late: map[uint64]error{}}
}

// begin remembers an operation. The operation fails if a message that has arrived describes a different one. It also fails if an earlier
// operation of the group proved different after its end here, unless another one has failed for that.
func (w *World) begin(c *Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, id := &w.agreement, call{c.g.context, c.number}
	if len(a.order) == remembered {
		delete(a.begun, a.order[0])
		a.order = a.order[1:]
	}
	mine := &begun{g: c.g, kind: c.kind, root: c.root}
	a.begun[id], a.order = mine, append(a.order, id)
	a.last[id.context] = max(a.last[id.context], id.number)
	if err := a.late[id.context]; err != nil {
		c.failed = differed(c.kind, err)
		delete(a.late, id.context)
	}
	for _, other := range a.early[id] {
		if err := mine.differs(&other); err != nil {
			w.disagree(id, mine, err)
		}
	}
	delete(a.early, id)
}

// toldOf returns the channels for the results of telling the other members that an operation differs. It returns nil if they were not
// told, and for an operation that is no longer remembered.
func (w *World) toldOf(c *Call) []<-chan error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.agreement.begun[call{c.g.context, c.number}]; b != nil {
		return b.sent
	}
	return nil
}

// finish remembers that an operation has ended. It returns the operation's failure, at another process or by a difference from another
// process, or nil if none is known.
func (w *World) finish(c *Call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := call{c.g.context, c.number}
	if b := w.agreement.begun[id]; b != nil {
		b.ended = true
	}
	return w.failures[id]
}

// compare compares the operation of a message with that of this process. If this process has not begun it, compare keeps the description
// for begin. It ignores operations that are no longer remembered. The caller holds the mutex.
func (w *World) compare(from int, m *parcel) {
	a, id := &w.agreement, call{m.Key.Context, m.Key.Number}
	other := told{from, m.Kind, int(m.Root)}
	if b := a.begun[id]; b != nil {
		if err := b.differs(&other); err != nil {
			w.disagree(id, b, err)
		}
		return
	}
	if id.number <= a.last[id.context] {
		return // ended, and no longer remembered
	}
	if !slices.ContainsFunc(a.early[id], func(t told) bool { return t.kind == other.kind && t.root == other.root }) {
		a.early[id] = append(a.early[id], other)
	}
}

// disagree fails an operation that differs from that of another process, unless it has failed before. If it has ended here, another one
// of the group fails, too: the oldest that has neither ended nor failed, or else the next one that begins. The caller holds the mutex.
func (w *World) disagree(id call, b *begun, err error) {
	if w.failures[id] != nil {
		return
	}
	w.reject(id, b, err)
	if !b.ended {
		return
	}
	for _, other := range w.order {
		if later := w.begun[other]; other.context == id.context && !later.ended && w.failures[other] == nil {
			w.reject(other, later, differed(later.kind, err))
			return
		}
	}
	w.late[id.context] = err
}

// differed returns the error of an operation after one that differed.
func differed(k kind, err error) error {
	return disagreement(k, offload.InvalidArgument, "an earlier operation differed: %s", text(err))
}

// reject fails an operation, and tells the other members. The caller holds the mutex.
func (w *World) reject(id call, b *begun, err error) {
	w.failCall(id, err)
	for i, rank := range b.g.members {
		if i != b.g.rank {
			k := key{Context: id.context, Number: id.number, Call: true}
			s := &sending{parcel: parcel{header: header{Key: k, Kind: b.kind, Failed: true}, data: []byte(text(err))}}
			w.enqueue(rank, s)
			b.sent = append(b.sent, s.done)
		}
	}
}

// failCall fails all receipts of an operation. The first error of an operation counts. The caller holds the mutex.
func (w *World) failCall(id call, err error) {
	if w.failures[id] != nil {
		err = w.failures[id]
	}
	w.failures[id] = err
	for _, p := range w.peers {
		for k, list := range p.posted {
			if k.Call && k.Context == id.context && k.Number == id.number {
				delete(p.posted, k)
				for _, r := range list {
					r.settle(nil, err)
				}
			}
		}
	}
}

// announce waits until r is settled or ctx ends, but at most for announceAfter. Then it announces this operation to the member from.
// That member may have begun another one, and wait for this member.
func (c *Call) announce(ctx context.Context, r *Receipt, from int) {
	select {
	case <-r.done:
		return
	default:
	}
	timer := time.NewTimer(announceAfter)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-ctx.Done():
	case <-timer.C:
		k := key{Context: c.g.context, Number: c.number, Step: announcement, Call: true}
		c.g.w.send(c.g.members[from], &sending{parcel: parcel{header: header{Key: k, Kind: c.kind, Root: uint32(c.root)}}})
	}
}

// agree returns an error if the operation of the member from differs from this one in kind, root, reduction, type or length. p is a
// message of that operation. Type and length do not matter for barriers and splits. Nor do they matter to a receiver of a broadcast or
// scatter that has passed no elements.
func (c *Call) agree(from int, p *parcel) error {
	me := c.g.rank
	other := told{c.g.members[from], p.Kind, int(p.Root)}
	if err := (&begun{g: c.g, kind: c.kind, root: c.root}).differs(&other); err != nil {
		return err
	}
	switch free := (c.kind == broadcast || c.kind == scatter) && c.data.Count == 0 && me != c.root; {
	case p.Reduce != uint8(c.reduce):
		return disagreement(c.kind, offload.InvalidArgument, "rank %d combines by %s, rank %d by %s", from, Reduction(p.Reduce), me, c.reduce)
	case free || c.kind == barrier || c.kind == split:
	case p.Type != c.data.Type:
		return disagreement(c.kind, offload.InvalidArgument, "rank %d has elements of %s, rank %d of %s", from, p.Type, me, c.data.Type)
	case p.Count != uint64(c.data.Count):
		return disagreement(c.kind, offload.InvalidSize, "rank %d has %d elements, rank %d has %d", from, p.Count, me, c.data.Count)
	}
	return nil
}

// disagreement returns the error of an operation that differs from another member's.
func disagreement(k kind, code offload.Code, format string, args ...any) error {
	return offload.Errorf(code, k.String(), format, args...).WithHint("all ranks of a communicator call the same collective operations in the same order, with data of one type and length")
}
