package mixture

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// QueuesPerDevice is the number of queues of each device: its default queue, a further one, and one without automatic waits.
// Queue d*QueuesPerDevice+k is queue k of device d.
const QueuesPerDevice = 3

// Program is a random program.
type Program struct {
	Seed uint64 `json:"seed"`
	Ops  []Op   `json:"ops"`
}

// Op is one command. The fields that an operation does not need are zero.
type Op struct {
	Do     string `json:"do"` // a case of testdata/run.js
	Queue  int    `json:"q,omitempty"`
	Dst    View   `json:"dst,omitzero"`
	Src    View   `json:"src,omitzero"`
	List   []View `json:"list,omitempty"`
	Value  uint32 `json:"v,omitempty"`
	Box    *Box   `json:"box,omitempty"`
	Device int    `json:"dev,omitempty"`  // create
	Kind   string `json:"kind,omitempty"` // create: the kind of memory
	Name   string `json:"name,omitempty"` // allReduce: the operation
	Hash   uint32 `json:"hash,omitempty"` // read, readRect: of the elements that the model has
}

// View is a range of elements of a buffer.
type View struct {
	Buffer int `json:"b"`
	Start  int `json:"s"`
	Count  int `json:"n"`
}

// Box is a rectangle of a view with rows of Columns elements.
type Box struct {
	Columns int    `json:"c"`
	Origin  [2]int `json:"o"`
	Extent  [2]int `json:"e"`
}

// buffer is a buffer in the model.
type buffer struct {
	device int
	data   []uint32
}

// generator builds a program and executes it in the model.
type generator struct {
	rng     *rand.Rand
	devices int
	buffers []buffer
	most    int  // elements of the longest buffer
	last    int  // the buffer written last, which the next command often reads
	moves   bool // most commands move data between buffers
	program Program
}

// Generate returns the random program of a seed for a number of devices. A buffer has up to 10 MiB.
func Generate(seed uint64, devices int) Program {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 3)), devices: devices, program: Program{Seed: seed}}
	g.moves = g.rng.IntN(2) == 0
	switch n := g.rng.IntN(100); {
	case n < 70:
		g.most = 64
	case n < 88:
		g.most = 6000 // more than what is copied into a message
	case n < 98:
		g.most = 60_000 // more than what a process sends at once
	default:
		g.most = 2_600_000 // more than what a copy stages at once
	}
	for range 3 + g.rng.IntN(4) {
		g.buffers = append(g.buffers, buffer{})
		g.create(len(g.buffers) - 1)
	}
	for q := range devices * QueuesPerDevice {
		if g.rng.IntN(4) == 0 {
			g.add(Op{Do: "gate", Queue: q})
		}
	}
	for range 10 + g.rng.IntN(30) {
		g.step()
	}
	g.add(Op{Do: "open"})
	for b := range g.buffers {
		g.read(View{b, 0, len(g.buffers[b].data)}, g.anyQueue(g.buffers[b].device))
	}
	return g.program
}

// Hash returns a digest of at most a thousand and one elements of data, which must not be empty.
func Hash(data []uint32) uint32 {
	h, step := uint32(0x811c9dc5), (len(data)+999)/1000
	for i := 0; i < len(data); i += step {
		h = (h ^ data[i]) * 0x01000193
	}
	return (h ^ data[len(data)-1]) * 0x01000193
}

func (g *generator) add(op Op) {
	g.program.Ops = append(g.program.Ops, op)
	if op.Dst.Count > 0 {
		g.last = op.Dst.Buffer
	} else if n := len(op.List); n > 0 {
		g.last = op.List[g.rng.IntN(n)].Buffer
	}
}

// anyQueue returns a queue of the device. Before a command of a queue without automatic waits, it makes that queue wait for all
// others.
func (g *generator) anyQueue(device int) int {
	k := []int{0, 0, 0, 0, 0, 1, 1, 2}[g.rng.IntN(8)]
	if g.moves && g.rng.IntN(2) == 0 {
		k = 0
	}
	q := device*QueuesPerDevice + k
	if k == 2 {
		g.add(Op{Do: "fence", Queue: q})
	}
	return q
}

func (g *generator) anyView() View {
	b := g.rng.IntN(len(g.buffers))
	return g.viewIn(b, 1+g.rng.IntN(len(g.buffers[b].data)))
}

// viewIn returns a random view of n elements of a buffer; a third begin at its start.
func (g *generator) viewIn(b, n int) View {
	left := len(g.buffers[b].data) - n
	if g.rng.IntN(3) == 0 {
		left = 0
	}
	return View{b, g.rng.IntN(left + 1), n}
}

// pair returns two random views of equal length. ok is false if they overlap.
func (g *generator) pair() (dst, src View, ok bool) {
	a, b := g.rng.IntN(len(g.buffers)), g.rng.IntN(len(g.buffers))
	if g.rng.IntN(2) == 0 {
		b = g.last
	}
	most := min(len(g.buffers[a].data), len(g.buffers[b].data))
	n := 1 + g.rng.IntN(most)
	if g.rng.IntN(2) == 0 {
		n = most
	}
	dst, src = g.viewIn(a, n), g.viewIn(b, n)
	return dst, src, a != b || dst.Start >= src.Start+n || src.Start >= dst.Start+n
}

// distinct returns views of n elements of k distinct buffers, or fewer if fewer buffers are as long.
func (g *generator) distinct(k, n int) (views []View) {
	order := g.rng.Perm(len(g.buffers))
	if g.rng.IntN(2) == 0 {
		i := slices.Index(order, g.last)
		order[0], order[i] = order[i], order[0]
	}
	for _, b := range order {
		if len(views) < k && len(g.buffers[b].data) >= n {
			views = append(views, g.viewIn(b, n))
		}
	}
	return views
}

// at returns the elements of a view.
func (g *generator) at(v View) []uint32 { return g.buffers[v.Buffer].data[v.Start:][:v.Count] }

func (g *generator) device(v View) int { return g.buffers[v.Buffer].device }

// create makes a new buffer in a slot: of zeros, of the results of an initialiser, or of values.
func (g *generator) create(slot int) {
	n := 1 + g.rng.IntN(g.most)
	if g.rng.IntN(3) == 0 {
		n = g.most
	}
	d := g.rng.IntN(g.devices)
	op := Op{Do: []string{"zeros", "init", "values"}[g.rng.IntN(3)], Dst: View{slot, 0, n}, Device: d, Value: g.rng.Uint32()}
	if op.Do == "values" && n > 100_000 { // scripts compute values slowly
		op.Do = "init"
	}
	if op.Do == "zeros" {
		op.Kind = []string{"", "host", "shared"}[g.rng.IntN(3)]
	}
	b := buffer{d, make([]uint32, n)}
	for i := range b.data {
		switch op.Do {
		case "init":
			b.data[i] = uint32(i) ^ 0x5bd1e995
		case "values":
			b.data[i] = valueAt(op.Value, i)
		}
	}
	g.buffers[slot] = b
	g.add(op)
}

// valueAt returns element i of the contents that number v selects.
func valueAt(v uint32, i int) uint32 { return v ^ uint32(i)*0x9e3779b1 }

func (g *generator) read(v View, q int) {
	g.add(Op{Do: "read", Queue: q, Src: v, Hash: Hash(g.at(v))})
}

// step adds a random command, with another one that it needs, or nothing if the chosen buffers do not suit it.
func (g *generator) step() {
	rng := g.rng
	kind := rng.IntN(24)
	if g.moves && rng.IntN(8) > 0 {
		kind = []int{0, 1, 2, 9, 16, 17}[rng.IntN(6)]
	}
	switch kind {
	case 0, 1, 2, 3, 4, 5:
		if dst, src, ok := g.pair(); ok {
			at := dst
			if rng.IntN(2) == 0 {
				at = src
			}
			q := g.anyQueue(g.device(at))
			copy(g.at(dst), g.at(src))
			g.add(Op{Do: "copy", Queue: q, Dst: dst, Src: src})
		}
	case 6, 7:
		v := g.anyView()
		v.Count = min(v.Count, 60_000)
		q, value := g.anyQueue(g.device(v)), rng.Uint32()
		for i, data := 0, g.at(v); i < len(data); i++ {
			data[i] = valueAt(value, i)
		}
		g.add(Op{Do: "write", Queue: q, Dst: v, Value: value})
	case 8:
		v := g.anyView()
		q, value := g.anyQueue(g.device(v)), rng.Uint32()
		for i, data := 0, g.at(v); i < len(data); i++ {
			data[i] = value
		}
		g.add(Op{Do: "fill", Queue: q, Dst: v, Value: value})
	case 9, 10, 11:
		if dst, src, ok := g.pair(); ok && g.device(dst) == g.device(src) {
			q := g.anyQueue(g.device(dst))
			to, from := g.at(dst), g.at(src)
			for i, x := range to {
				to[i] = (x<<5 | x>>27) ^ from[i]
			}
			g.add(Op{Do: "mix", Queue: q, Dst: dst, Src: src})
		}
	case 12:
		v := g.anyView()
		v.Count = min(v.Count, 64)
		q := g.anyQueue(g.device(v))
		for i, x := range g.at(v) {
			for r := range uint32(slowRounds) {
				x = (x<<5 | x>>27) ^ r
			}
			g.at(v)[i] = x
		}
		g.add(Op{Do: "slow", Queue: q, Dst: v})
	case 13, 14:
		v := g.anyView()
		g.read(v, g.anyQueue(g.device(v)))
	case 15:
		g.box()
	case 16, 17, 18, 19:
		g.collective()
	case 20:
		if rng.IntN(2) == 0 {
			g.add(Op{Do: "gate", Queue: g.rng.IntN(g.devices * QueuesPerDevice)})
			return
		}
		g.add(Op{Do: "host", Queue: g.rng.IntN(g.devices * QueuesPerDevice), Value: rng.Uint32N(3)})
	case 21:
		g.add(Op{Do: "wait", Queue: g.rng.IntN(g.devices * QueuesPerDevice), Value: rng.Uint32N(uint32(g.devices * QueuesPerDevice))})
	case 22:
		switch rng.IntN(8) {
		case 0:
			g.add(Op{Do: "open"})
			g.add(Op{Do: "settle"})
		case 1:
			g.add(Op{Do: "open"})
			g.add(Op{Do: "sync", Queue: g.rng.IntN(g.devices * QueuesPerDevice)})
		case 2:
			g.add(Op{Do: "open"})
		}
	case 23:
		slot := rng.IntN(len(g.buffers))
		g.add(Op{Do: "free", Dst: View{slot, 0, len(g.buffers[slot].data)}})
		g.create(slot)
	}
}

// slowRounds is the number of rounds of the kernel slow.
const slowRounds = 20_000

// box adds a write or a read of a rectangle.
func (g *generator) box() {
	v := g.anyView()
	columns := 1 + g.rng.IntN(min(v.Count, 300))
	rows := min(v.Count/columns, 200)
	v.Count = rows * columns
	b := &Box{Columns: columns, Extent: [2]int{1 + g.rng.IntN(rows), 1 + g.rng.IntN(columns)}}
	b.Origin = [2]int{g.rng.IntN(rows - b.Extent[0] + 1), g.rng.IntN(columns - b.Extent[1] + 1)}
	q, value, write := g.anyQueue(g.device(v)), g.rng.Uint32(), g.rng.IntN(2) == 0
	var dense []uint32
	for y := range b.Extent[0] {
		row := g.at(v)[(b.Origin[0]+y)*columns+b.Origin[1]:][:b.Extent[1]]
		if write {
			for x := range row {
				row[x] = valueAt(value, y*len(row)+x)
			}
		}
		dense = append(dense, row...)
	}
	if write {
		g.add(Op{Do: "writeRect", Queue: q, Dst: v, Box: b, Value: value})
		return
	}
	g.add(Op{Do: "readRect", Queue: q, Src: v, Box: b, Hash: Hash(dense)})
}

// collective adds a collective operation on up to five buffers, or nothing if only one buffer is long enough.
func (g *generator) collective() {
	n := 1 + g.rng.IntN(g.most)
	views := g.distinct(2+g.rng.IntN(4), n)
	if len(views) < 2 {
		return
	}
	first, rest := views[0], views[1:]
	switch g.rng.IntN(4) {
	case 0:
		for _, v := range rest {
			copy(g.at(v), g.at(first))
		}
		g.add(Op{Do: "broadcast", Src: first, List: rest})
	case 1, 2:
		scatter := g.rng.IntN(2) == 0
		for i := range rest { // the parts have consecutive pieces of the first view
			rest[i].Count = n / len(rest)
			if i == 0 {
				rest[i].Count += n % len(rest)
			}
		}
		rest = slices.DeleteFunc(rest, func(v View) bool { return v.Count == 0 })
		at := 0
		for _, v := range rest {
			piece := g.at(first)[at:][:v.Count]
			if scatter {
				copy(g.at(v), piece)
			} else {
				copy(piece, g.at(v))
			}
			at += v.Count
		}
		if scatter {
			g.add(Op{Do: "scatter", Src: first, List: rest})
		} else {
			g.add(Op{Do: "gather", Dst: first, List: rest})
		}
	case 3:
		if g.rng.IntN(2) == 0 {
			views = g.onTwo(views)
			first, rest = views[0], views[1:]
		}
		name := []string{"sum", "product", "min", "max"}[g.rng.IntN(4)]
		result := slices.Clone(g.at(first))
		for _, v := range rest {
			for i, x := range g.at(v) {
				result[i] = reduced(name, result[i], x)
			}
		}
		for _, v := range views {
			copy(g.at(v), result)
		}
		g.add(Op{Do: "allReduce", List: views, Name: name})
	}
}

// onTwo returns a view on each of at most two devices, which may be workers that reduce without the host.
func (g *generator) onTwo(views []View) (list []View) {
	for _, v := range views {
		if len(list) < 2 && !slices.ContainsFunc(list, func(other View) bool { return g.device(other) == g.device(v) }) {
			list = append(list, v)
		}
	}
	return list
}

func reduced(name string, a, b uint32) uint32 {
	switch name {
	case "sum":
		return a + b
	case "product":
		return a * b
	case "min":
		return min(a, b)
	}
	return max(a, b)
}

// String returns a command in one line.
func (o Op) String() string {
	s := fmt.Sprintf("%s queue %d", o.Do, o.Queue)
	for _, v := range append([]View{o.Dst, o.Src}, o.List...) {
		if v.Count > 0 {
			s += fmt.Sprintf(" %d[%d:%d]", v.Buffer, v.Start, v.Start+v.Count)
		}
	}
	if o.Box != nil {
		s += fmt.Sprintf(" %+v", *o.Box)
	}
	if o.Dst.Count > 0 && (o.Do == "zeros" || o.Do == "init" || o.Do == "values") {
		s += fmt.Sprintf(" on device %d %s", o.Device, o.Kind)
	}
	return s
}
