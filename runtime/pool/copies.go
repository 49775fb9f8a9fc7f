package pool

import (
	"cmp"
	"slices"

	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// move enqueues a copy, which may be between devices, on the queue of the destination's device. If only that device has
// host-visible memory, it takes the queue of the source's device: copies from several devices then do not wait for each other.
func (c *Collective) move(op string, dst, src *session.Buffer) error {
	if dst.Len() == 0 && src.Len() == 0 {
		return nil
	}
	d := dst.Device()
	if s := src.Device(); s != d && d.Contract().Info().Features.HostVisible && !s.Contract().Info().Features.HostVisible {
		d = s
	}
	q, err := c.Queue(op, d)
	if err != nil {
		return err
	}
	return q.Copy(dst, src)
}

// overlap reports whether two of the buffers share bytes.
func overlap(list []*session.Buffer) bool {
	type place struct {
		id            uint64
		offset, after int64
	}
	var places []place
	for _, b := range list {
		if id, offset, _, _ := b.Memory(); b.Size() > 0 {
			places = append(places, place{id, offset, offset + b.Size()})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.offset, b.offset)) })
	for i := 1; i < len(places); i++ {
		a, b := &places[i-1], &places[i]
		if a.id == b.id && b.offset < a.after {
			return true
		}
	}
	return false
}

// apart divides a list in members, on different devices that can make copies together, and other buffers. If leads is set, the
// first buffer of the list is the first member. If it cannot be one, there are no members.
func apart(list []*session.Buffer, leads bool) (members, others []*session.Buffer) {
	for i, b := range list {
		_, ok := b.Device().Contract().(contract.Mover)
		for _, m := range members {
			p, peer := m.Device().Contract().(contract.PeerCopier)
			ok = ok && peer && p.CanExchange(b.Device().Contract())
		}
		switch {
		case b.Size() > 0 && ok:
			members = append(members, b)
		case leads && i == 0:
			return nil, list
		default:
			others = append(others, b)
		}
	}
	return members, others
}

// together makes the copies that flows describe between members, by one command of each device. Before it enqueues them, it
// calls the function before. It returns false, without this call, if the devices cannot do that or a queue is watched. It also
// returns false for fewer than three members, for which a plain copy is less work.
func (c *Collective) together(op string, members []*session.Buffer, flows []contract.Flow, before func() error) (ok bool, err error) {
	if len(members) < 3 {
		return false, nil
	}
	var devices []contract.Device
	var queues []*session.Queue
	writes := make([]bool, len(members))
	for _, b := range members {
		q, err := c.Queue(op, b.Device())
		if err != nil {
			return false, err
		}
		if q.Watched() { // a recording has no joint launches
			return false, nil
		}
		devices, queues = append(devices, b.Device().Contract()), append(queues, q)
	}
	for _, f := range flows {
		writes[f.To] = true
	}
	launches := devices[0].(contract.Mover).Move(op, devices, flows)
	if launches == nil {
		return false, nil
	}
	if err := before(); err != nil {
		return false, err
	}
	release, err := session.Hold(c.Context, queues)
	if err != nil {
		return false, err
	}
	defer release()
	for i, q := range queues {
		if err := q.Join(op, members[i], writes[i], nil); err != nil {
			return false, err
		}
	}
	for i, q := range queues {
		if err := q.Join(op, members[i], writes[i], &launches[i]); err != nil {
			launches[i].Joint.Fail(err)
			return false, err
		}
	}
	return true, nil
}

// chainBytes is the size in bytes from which a joint broadcast (see together) goes down a chain instead of a binomial tree. In a
// chain each device but the last sends the data once, to the next device. Remote devices pass pieces on as they arrive.
const chainBytes = 1 << 20

// route returns the flows of a broadcast from the first member to n-1 others: a binomial tree, or a chain from chainBytes on.
func route(n int, size int64) (flows []contract.Flow) {
	first := 1
	for i := 1; i < n; i++ {
		if i == 2*first {
			first = i
		}
		from := i - first
		if size >= chainBytes {
			from = i - 1
		}
		flows = append(flows, contract.Flow{From: from, To: i, Size: size})
	}
	return flows
}

// Broadcast copies a buffer to others of its size; another size is an InvalidSize error. Devices that can do so pass it on to
// each other by one command each. Others copy it down a binomial tree. If buffers overlap, each copy is from src.
func (c *Collective) Broadcast(src *session.Buffer, list []*session.Buffer) error {
	const op = "broadcast"
	for i, dst := range list {
		if dst.Size() != src.Size() {
			return contract.Errorf(contract.InvalidSize, op, "destination %d has %d bytes, the source %d", i, dst.Size(), src.Size()).On(dst.Device().ID(), dst.Label())
		}
	}
	all := append([]*session.Buffer{src}, list...)
	if overlap(all) { // what is written may not be passed on
		for _, dst := range list {
			if err := c.move(op, dst, src); err != nil {
				return err
			}
		}
		return nil
	}
	members, others := apart(all, true)
	if len(members) == 0 { // the source is on another device
		members, others = apart(list, false)
	}
	ok, err := c.together(op, members, route(len(members), src.Size()), func() error {
		if members[0] == src {
			return nil
		}
		return c.move(op, members[0], src)
	})
	if err != nil {
		return err
	}
	if !ok {
		return c.spread(op, src, list)
	}
	var far []*session.Buffer
	for _, dst := range others {
		if i := slices.IndexFunc(members, func(m *session.Buffer) bool { return m.Device() == dst.Device() }); i < 0 {
			far = append(far, dst)
		} else if err := c.move(op, dst, members[i]); err != nil {
			return err
		}
	}
	return c.spread(op, src, far)
}

// spread copies a buffer to others down a binomial tree.
func (c *Collective) spread(op string, src *session.Buffer, list []*session.Buffer) error {
	have := append([]*session.Buffer{src}, list...)
	for first := 1; first < len(have); first *= 2 { // the number of copies doubles in each round
		for i := first; i < min(2*first, len(have)); i++ {
			if err := c.move(op, have[i], have[i-first]); err != nil {
				return err
			}
		}
	}
	return nil
}

// partsOf returns views of a whole buffer that match the sizes of the parts.
func partsOf(op string, all *session.Buffer, list []*session.Buffer) (views []*session.Buffer, err error) {
	sum := int64(0)
	for i, p := range list {
		if p.Elem() != all.Elem() || p.Type() != all.Type() {
			return nil, contract.Errorf(contract.InvalidArgument, op, "part %d has elements of another type than the whole", i).On(p.Device().ID(), p.Label())
		}
		sum += p.Len()
	}
	if sum != all.Len() {
		return nil, contract.Errorf(contract.InvalidSize, op, "the parts have %d elements together, the whole has %d", sum, all.Len()).On(all.Device().ID(), all.Label())
	}
	at := int64(0)
	for _, p := range list {
		v, err := part(all, at, p.Len())
		if err != nil {
			return nil, err
		}
		views = append(views, v)
		at += p.Len()
	}
	return views, nil
}

// Scatter copies a whole buffer to parts, which follow each other. Errors: InvalidArgument for parts of another type, InvalidSize
// if they have not as many elements as the whole together.
func (c *Collective) Scatter(whole *session.Buffer, parts []*session.Buffer) error {
	return c.exchange("scatter", whole, parts, true)
}

// Gather copies parts, which follow each other, to a whole buffer. Its errors are those of Scatter.
func (c *Collective) Gather(whole *session.Buffer, parts []*session.Buffer) error {
	return c.exchange("gather", whole, parts, false)
}

// exchange copies between a whole buffer and its parts: to the parts if scatter is set, else from them.
func (c *Collective) exchange(op string, whole *session.Buffer, parts []*session.Buffer, scatter bool) error {
	views, err := partsOf(op, whole, parts)
	if err != nil {
		return err
	}
	joined := map[*session.Buffer]bool{}
	if !overlap(append([]*session.Buffer{whole}, parts...)) {
		if err := c.exchangeTogether(op, whole, parts, scatter, joined); err != nil {
			return err
		}
	}
	for i, p := range parts {
		dst, src := p, views[i]
		if !scatter {
			dst, src = src, dst
		}
		if joined[p] {
			continue
		}
		if err := c.move(op, dst, src); err != nil {
			return err
		}
	}
	return nil
}

// exchangeTogether copies between a whole buffer and those parts that it adds to joined: to the parts if scatter is set, else
// from them.
func (c *Collective) exchangeTogether(op string, whole *session.Buffer, parts []*session.Buffer, scatter bool, joined map[*session.Buffer]bool) error {
	offsets, at := map[*session.Buffer]int64{}, int64(0)
	for _, p := range parts {
		offsets[p] = at
		at += p.Size()
	}
	for rest := parts; ; { // each round takes at most one part of each device
		members, others := apart(append([]*session.Buffer{whole}, rest...), true)
		var flows []contract.Flow
		for i := 1; i < len(members); i++ {
			f := contract.Flow{To: i, Source: offsets[members[i]], Size: members[i].Size()}
			if !scatter {
				f = contract.Flow{From: i, Target: offsets[members[i]], Size: members[i].Size()}
			}
			flows = append(flows, f)
		}
		ok, err := c.together(op, members, flows, func() error { return nil })
		if !ok || err != nil {
			return err
		}
		for _, p := range members[1:] {
			joined[p] = true
		}
		rest = others
	}
}
