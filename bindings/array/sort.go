package array

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings/array/gpu"
	"github.com/orepl/orepl/bindings/array/order"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// raw returns a view of all elements in one row as those of another type of the same size.
func (s *radix) raw(x Array, t ir.Type) (Array, error) {
	x, err := s.flat(x)
	if err != nil || x.Elem.Scalar == t {
		return x, err
	}
	x.Elem = ir.Elem{Scalar: t}
	return s.view(x, view(x, 0, x.Dims()))
}

// Sort sorts an array in place along an axis, with NaN last.
func (r *Run) Sort(x Array, axis int, descending bool) error {
	end, err := r.begin("sort", x)
	if err != nil {
		return err
	}
	defer end()
	sorted, err := r.sortAxis(x, axis, descending)
	if err != nil {
		return err
	}
	r.scrap(sorted)
	return r.store(x, sorted)
}

// store copies the elements of from to an array of the same shape.
func (r *Run) store(to, from Array) error {
	if to.Len() == 0 {
		return nil
	}
	return r.Copy(to, from)
}

// Sorted returns a sorted copy; see [Run.Sort].
func (r *Run) Sorted(x Array, axis int, descending bool) (Array, error) {
	end, err := r.begin("toSorted", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.sortAxis(x, axis, descending)
}

func (r *Run) sortAxis(x Array, axis int, descending bool) (Array, error) {
	return r.alongLast(x, axis, func(x Array, rows, n int) (Array, error) {
		if rows <= 1 {
			return r.sorted(x, 0, descending)
		}
		return r.sorted(x, n, descending)
	})
}

// ArgSort returns the indices that sort an array along an axis. The sort is stable.
func (r *Run) ArgSort(x Array, axis int, descending bool) (Array, error) {
	end, err := r.begin("argsort", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.alongLast(x, axis, func(x Array, rows, n int) (Array, error) {
		return r.places(x, rows, n, descending)
	})
}

// places returns the index in its row of each element of the sorted rows.
func (r *Run) places(x Array, rows, n int, descending bool) (Array, error) {
	out, err := r.make(ir.I32, x.Dims())
	if err != nil || x.Len() == 0 {
		return out, err
	}
	sorted, err := r.temp(x.Elem.Scalar, x.Dims()...)
	if err != nil {
		return out, err
	}
	if err := r.sortKeys(x, sorted, out, rows, n, descending); err != nil || rows <= 1 {
		return out, err
	}
	to, err := r.flat(out)
	if err != nil {
		return out, err
	}
	return out, r.launch(&program{name: r.op, text: "(g, out, n) => { out[g.x] = out[g.x] % n }"}, []int{int(x.Len())}, nil, in(to), i32(n))
}

// sorted returns a copy whose rows of n elements are sorted; for n = 0 all elements are one row.
func (r *Run) sorted(x Array, n int, descending bool) (Array, error) {
	out, err := r.allocate(x.Elem, x.Dims(), r.Label)
	if err != nil || x.Len() == 0 {
		return out, err
	}
	rows := 1
	if n > 0 {
		rows = int(x.Len()) / n
	} else {
		n = int(x.Len())
	}
	return out, r.sortKeys(x, out, Array{}, rows, n, descending)
}

// sortKeys stores the sorted rows of n elements of x in out. Unless places is the zero Array, it gets their row-major indices in x.
func (r *Run) sortKeys(x, out, places Array, rows, n int, descending bool) error {
	count := int(x.Len())
	if _, err := r.elements(x.Dims()); err != nil {
		return err
	}
	raw, t, to, from, width := order.Keys(x.Elem.Scalar)
	s := radix{Run: r, key: t, indexed: places.Buffer != nil || rows > 1, chunk: chunkOf(r.Queue.Device(), count)}
	chunks := divide(count, s.chunk)
	s.bits = digitOf(r.Queue.Device(), count, chunks, width)
	if d := likeGPU(r); d != nil && gpu.Sorts(d, t) {
		s.onGPU, s.bits, chunks = true, gpu.DigitBits, 1
	}
	var err error
	if s.counts, err = r.temp(ir.I32, 1, chunks<<s.bits); err != nil {
		return err
	}
	if s.sums, err = r.temp(ir.I32, 1, chunks<<s.bits); err != nil {
		return err
	}
	var digits []digit
	for shift := 0; shift < width; shift += s.bits {
		digits = append(digits, digit{key: t, by: "(key, place) => key", shift: shift})
	}
	for shift := 0; rows > 1 && (rows-1)>>shift > 0; shift += s.bits { // stable passes by the row
		digits = append(digits, digit{key: ir.I32, by: fmt.Sprintf("(key, place) => (place / %d) | 0", n), shift: shift})
	}
	if s.keys, err = s.raw(x, raw); err != nil {
		return err
	}
	for i, d := range digits {
		d.pre, d.post, d.first = "v => v", "v => v", i == 0
		if i == 0 {
			d.pre = fmt.Sprintf("v => { const key = %s, undo = %s; return undo(key(v)) }", to, order.Reverse(x.Elem.Scalar, descending))
		}
		next, at := Array{}, Array{}
		if last := i == len(digits)-1; last {
			d.post = fmt.Sprintf("k => { const value = %s, undo = %s; return value(undo(k)) }", from, order.Reverse(x.Elem.Scalar, descending))
			next, err = s.raw(out, raw)
			if err == nil && places.Buffer != nil {
				at, err = r.flat(places)
			}
		}
		if err == nil && next.Buffer == nil {
			next, err = s.spare(&s.spareKeys, i, t, count)
		}
		if err == nil && at.Buffer == nil && s.indexed {
			at, err = s.spare(&s.sparePlaces, i, ir.I32, count)
		}
		if err != nil {
			return err
		}
		if err := s.pass(d, next, at); err != nil {
			return err
		}
	}
	return nil
}

// chunkOf returns the number of elements that an item of a radix sort counts and places, or a group of a histogram counts.
func chunkOf(d *session.Device, n int) int {
	info := d.Info()
	chunks := max(4, 4*info.ComputeUnits)
	if info.Type != offload.CPU {
		chunks = max(chunks, 32*info.ComputeUnits) // an item each uses a part of a multiprocessor
	}
	return max(1024, divide(n, chunks))
}

// digitOf returns the number of bits of a digit for n keys of width bits in chunks: 8 or, for wide keys on a CPU, 11. The cache lines
// of 2048 digits fit its second-level cache, and fewer passes are needed; but there must be far fewer counts than keys.
func digitOf(d *session.Device, n, chunks, width int) int {
	const most = 11
	if d.Info().Type != offload.CPU || width < 32 || chunks<<most > n/8 {
		return 8
	}
	return most
}

// radix is the state of a radix sort: the current keys and indices, and the buffers for the next ones.
type radix struct {
	*Run
	key                    ir.Type
	keys, places           Array
	spareKeys, sparePlaces [2]Array
	counts, sums           Array
	indexed                bool
	chunk                  int
	bits                   int  // of a digit
	onGPU                  bool // passes are those of the plan for GPUs
}

// digit describes a pass of a radix sort: some bits of the keys, or of what by computes of a key and the index of its element.
type digit struct {
	key       ir.Type
	by        string
	shift     int
	pre, post string // from elements to keys in the first pass, and back in the last one
	first     bool
}

// spare returns array i%2 of a pair. It makes the array, of count elements of type t, when it is first needed.
func (s *radix) spare(pair *[2]Array, i int, t ir.Type, count int) (Array, error) {
	a := &pair[i%2]
	if a.Buffer != nil {
		return *a, nil
	}
	var err error
	*a, err = s.temp(t, count)
	return *a, err
}

// pass sorts the keys by a digit and stores them in next, which then is s.keys. If the sort is indexed, it stores the indices of
// the keys in at, which then is s.places.
func (s *radix) pass(d digit, next, at Array) error {
	mask := 1<<s.bits - 1
	of := fmt.Sprintf("(k, shift) => i32((k >>> shift) & %d)", mask)
	switch d.key {
	case ir.U64:
		of = fmt.Sprintf("(k, shift) => i32((k >> u64(shift)) & %dn)", mask)
	case ir.I32:
		of = fmt.Sprintf("(k, shift) => (k >> shift) & %d", mask)
	}
	if s.onGPU {
		return passOnGPU(s, d, of, next, at)
	}
	chunks := s.counts.Dims()[1] >> s.bits
	flat, err := s.flat(s.counts)
	if err != nil {
		return err
	}
	sums, err := s.flat(s.sums)
	if err != nil {
		return err
	}
	bind := func(text, pre string) *program {
		return (&program{name: s.op, text: text}).with("digitOf", of).with("pre", pre).with("DIGITS", 1<<s.bits)
	}
	one := []int{1, 1, 1}
	by, pre := s.keys, d.pre
	if d.key == ir.I32 {
		by, pre = s.places, fmt.Sprintf("place => { const by = %s; return by(0, place) }", d.by)
	}
	if err := s.launch(bind("countDigits", pre), []int{chunks}, one, in(by), in(flat), i32(d.shift), i32(s.chunk)); err != nil {
		return err
	}
	if err := s.scanRows(s.sums, s.counts, 1, chunks<<s.bits, sumOf(ir.I32)); err != nil {
		return err
	}
	if !s.indexed {
		err = s.launch(bind("placeKeys", d.pre).with("post", d.post), []int{chunks}, one, in(s.keys), in(flat), in(sums), in(next), i32(d.shift), i32(s.chunk))
		s.keys = next
		return err
	}
	from, placeAt := s.places, "(places, i) => places[i]"
	if d.first {
		from, placeAt = at, "(places, i) => i" // the indices are not loaded
	}
	p := bind("placeDigits", d.pre).with("post", d.post).with("by", d.by).with("placeAt", placeAt)
	err = s.launch(p, []int{chunks}, one, in(s.keys), in(from), in(flat), in(sums), in(next), in(at), i32(d.shift), i32(s.chunk))
	s.keys, s.places = next, at
	return err
}

// SortBy sorts along an axis by a function of two elements: its value is negative if the first one precedes, or is a boolean
// that reports it. If descending is set, the order is reversed. The sort is stable. It returns the sorted elements and their indices.
func (r *Run) SortBy(compare Function, x Array, axis int, descending bool) (sorted, places Array, err error) {
	end, err := r.begin("sort", x)
	if err != nil {
		return sorted, places, err
	}
	defer end()
	before, err := r.order(compare, x, descending)
	if err != nil {
		return sorted, places, err
	}
	sorted, err = r.alongLast(x, axis, func(x Array, rows, n int) (Array, error) {
		var s Array
		var err error
		s, places, err = r.merge(before, x, n)
		return s, err
	})
	if at, bad := r.axis(x, axis); err == nil && bad == nil && at != len(x.Dims())-1 {
		order := []int{0, 1, 2}[:len(x.Dims())]
		order[at], order[len(order)-1] = order[len(order)-1], order[at]
		r.scrap(places)
		places, err = r.transpose(places, order)
	}
	return sorted, places, err
}

// order returns a function that reports whether a precedes b by compare; if descending is set, whether b precedes a. compare
// returns a bool, or a number that is negative if its first argument precedes the second. 32-bit integers are passed to compare as
// i64 if it accepts them, so that their difference does not wrap. The error is that of compare for the elements of x.
func (r *Run) order(compare Function, x Array, descending bool) (Function, error) {
	a, b := "a", "b"
	if descending {
		a, b = b, a
	}
	lists := []string{fmt.Sprintf("%s, %s", a, b)}
	if t := x.Elem.Scalar; t == ir.I32 || t == ir.U32 {
		lists = append([]string{fmt.Sprintf("i64(%s), i64(%s)", a, b)}, lists...)
	}
	var first error
	for _, list := range lists {
		fn := Calling("(a, b) => compare("+list+")", "compare", compare)
		t, err := r.resultType(fn, []int{1}, []Operand{In(x), In(x)})
		switch {
		case err != nil:
			first = err
			continue
		case t == ir.Bool:
			return fn, nil
		}
		return Calling("(a, b) => compare("+list+") < 0", "compare", compare), nil
	}
	return Function{}, first
}

// TakeAlong returns for each element of indices an element of x: the one at the same coordinates, except that the coordinate of
// the axis is the index. Unlike [Run.Take], it does not count negative indices from the end.
func (r *Run) TakeAlong(x, indices Array, axis int) (Array, error) {
	end, err := r.begin("take", x, indices)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if axis, err = r.axis(x, axis); err != nil {
		return Array{}, err
	}
	out, err := r.allocate(x.Elem, indices.Dims(), r.Label)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	at := coordinates[len(x.Dims())]
	texts := slices.Clone(at)
	texts[axis] = fmt.Sprintf("at[%s]", strings.Join(at, "]["))
	text := fmt.Sprintf("(g, out, x, at) => { out[%s] = x[%s] }", strings.Join(at, "]["), strings.Join(texts, "]["))
	return out, r.launch(&program{name: r.op, text: text}, reversed(out.Dims()), nil, in(out), in(x), in(indices))
}

// merge sorts rows of n elements by merging runs of 1, 2, 4 … elements. It returns the sorted elements and the indices that
// they had in their rows.
func (r *Run) merge(before Function, x Array, n int) (sorted, places Array, err error) {
	count := int(x.Len())
	var values, at [2]Array
	for i := range 2 {
		if values[i], err = r.allocate(x.Elem, x.Dims(), r.Label); err != nil {
			return sorted, places, err
		}
		if at[i], err = r.make(ir.I32, x.Dims()); err != nil {
			return sorted, places, err
		}
	}
	defer func() {
		r.scrap(values[1])
		r.scrap(at[1])
	}()
	if count == 0 {
		return values[0], at[0], nil
	}
	if err := r.store(values[0], x); err != nil {
		return sorted, places, err
	}
	var v, p [2]Array
	for i := range 2 {
		if v[i], err = r.flat(values[i]); err != nil {
			return sorted, places, err
		}
		if p[i], err = r.flat(at[i]); err != nil {
			return sorted, places, err
		}
	}
	if err := r.launch(&program{name: r.op, text: "(g, out, n) => { out[g.x] = g.x % n }"}, []int{count}, nil, in(p[0]), i32(n)); err != nil {
		return sorted, places, err
	}
	for run := 1; run < n; run *= 2 {
		m := (&program{name: r.op, text: "mergeRuns"}).with("before", before)
		if err := r.launch(m, []int{count}, nil, in(v[0]), in(p[0]), in(v[1]), in(p[1]), i32(run), i32(n)); err != nil {
			return sorted, places, err
		}
		v[0], v[1], p[0], p[1] = v[1], v[0], p[1], p[0]
		values[0], values[1], at[0], at[1] = values[1], values[0], at[1], at[0]
	}
	return values[0], at[0], nil
}

// Permutation returns the numbers from 0 to n−1 in a random order, which depends on n and the seed alone.
func (r *Run) Permutation(n int, seed uint64) (Array, error) {
	keys, err := r.create("permutation", ir.U64, []int{n}, "(g, out, seed, seedHigh) => { "+words+"out[g.x] = (u64(w0) << 32n) | u64(w1) }", nil, u32(uint32(seed)), u32(uint32(seed>>32)))
	if err != nil {
		return Array{}, err
	}
	defer func() { _ = keys.Free() }() // the commands keep the memory
	return r.ArgSort(keys, 0, false)
}

// host issues the launches of plans for GPUs.
type host struct {
	*Run
	real ir.Type
}

func (h host) Temp(t ir.Type, dims ...int) (Array, error) { return h.temp(t, dims...) }

func (h host) Launch(l gpu.Launch, args ...any) error {
	p := &program{name: h.op, text: l.Text, full: l.Full, real: h.real}
	for _, b := range l.Bind {
		p.with(b.Name, b.Value)
	}
	list := make([]arg, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Array:
			list[i] = in(a)
		case int:
			list[i] = i32(a)
		}
	}
	return h.launch(p, groups(l.Groups[0], l.Groups[1], l.Groups[2]), oneRow, list...)
}

// likeGPU returns the properties of the queue's device if operations run the plans for GPUs there, else nil.
func likeGPU(r *Run) *offload.DeviceInfo {
	if d := r.Queue.Device().Info(); d.Type == offload.GPU {
		return d
	}
	return r.asGPU
}

// emulated reports whether the queue's device is a processor behind a GPU's interface, on which barriers are slow.
func emulated(r *Run) bool { return r.Queue.Device().Info().Class == offload.ClassEmulated }

// passOnGPU is [radix.pass] by the plan for GPUs. of is the text of the function from a key and d.shift to the digit.
func passOnGPU(s *radix, d digit, of string, next, at Array) error {
	p := gpu.Digit{Key: s.key, Of: of, By: d.by, Pre: d.pre, Post: d.post, Shift: d.shift, Indexed: s.indexed, First: d.first}
	if d.key == ir.I32 {
		p.Places = fmt.Sprintf("place => { const by = %s; return by(0, place) }", d.by)
	}
	err := gpu.Pass(host{Run: s.Run}, p, int(s.keys.Len()), s.keys, s.places, next, at)
	s.keys, s.places = next, at
	return err
}
