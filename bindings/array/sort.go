package array

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// digits is the number of values of a digit of the radix sort.
const digits = 256

// keyOf describes the keys of an element type: their type, the text that computes them and its inverse, and their bits.
func keyOf(t ir.Type) (key ir.Type, to, from string, width int) {
	switch t {
	case ir.Bool:
		return ir.U32, "v => v ? u32(1) : u32(0)", "k => k === 1", 8
	case ir.U8:
		return ir.U32, "v => u32(v)", "k => k", 8
	case ir.I8:
		return ir.U32, "v => u32(v + 128)", "k => i32(k) - 128", 8
	case ir.U16:
		return ir.U32, "v => u32(v)", "k => k", 16
	case ir.I16:
		return ir.U32, "v => u32(v + 32768)", "k => i32(k) - 32768", 16
	case ir.U32:
		return ir.U32, "v => v", "k => k", 32
	case ir.I32:
		return ir.U32, "v => u32(v ^ -2147483648)", "k => i32(k ^ -2147483648)", 32
	case ir.U64:
		return ir.U64, "v => v", "k => k", 64
	case ir.I64:
		return ir.U64, "v => u64(v) ^ 0x8000000000000000n", "k => i64(k ^ 0x8000000000000000n)", 64
	case ir.F64:
		return ir.U64, "v => orderOf64(v)", "k => k === 0xffffffffffffffffn ? f64(NaN) : fromBits(f64, (k >> 63n) === 1n ? k & 0x7fffffffffffffffn : ~k)", 64
	}
	return ir.U32, "v => orderOf32(v)", "k => k === 0xffffffff ? f32(NaN) : fromBits(f32, (k >>> 31) === 1 ? u32(k & 0x7fffffff) : u32(~k))", 32
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

// store copies an array of equal shape to another.
func (r *Run) store(to, from Array) error {
	if to.Len() == 0 {
		return nil
	}
	return r.Queue.Copy(to.Buffer, from.Buffer)
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
	keys, places, err := r.sortKeys(x, rows, n, descending, true)
	if err != nil {
		return out, err
	}
	_ = keys // freed with the operation's intermediate results
	to, err := r.flat(out)
	if err != nil {
		return out, err
	}
	return out, r.launch(&program{name: r.op, text: "(g, out, places, n) => { out[g.x] = places[g.x] % n }"}, []int{int(x.Len())}, nil, in(to), in(places), i32(n))
}

// sorted returns a copy whose rows of n elements are sorted; for 0 all elements are one row.
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
	keys, _, err := r.sortKeys(x, rows, n, descending, rows > 1)
	if err != nil {
		return out, err
	}
	to, err := r.flat(out)
	if err != nil {
		return out, err
	}
	_, _, from, _ := keyOf(x.Elem.Scalar)
	p := (&program{name: r.op, text: "(g, out, keys) => { out[g.x] = value(undo(keys[g.x])) }", real: realFor(x.Elem.Scalar)}).with("undo", undone(x.Elem.Scalar, descending)).with("value", from)
	return out, r.launch(p, []int{int(x.Len())}, nil, in(to), in(keys))
}

// undone returns the text that reverses the order of keys for a descending sort, which keeps NaN last. It is its own inverse.
func undone(t ir.Type, descending bool) string {
	key, _, _, width := keyOf(t)
	switch {
	case !descending:
		return "k => k"
	case t == ir.F64:
		return "k => k === 0xffffffffffffffffn ? k : 0xfffffffffffffffen - k"
	case key == ir.U64:
		return "k => ~k"
	case t.IsFloat():
		return "k => k === 0xffffffff ? k : u32(0xfffffffe - k)"
	}
	return fmt.Sprintf("k => u32(%d - k)", uint64(1)<<width-1)
}

// sortKeys returns the sorted keys of rows of n elements, and the indices of their elements if they are wanted.
func (r *Run) sortKeys(x Array, rows, n int, descending, indexed bool) (keys, places Array, err error) {
	count := int(x.Len())
	if _, err := r.elements(x.Dims()); err != nil {
		return keys, places, err
	}
	t, to, _, width := keyOf(x.Elem.Scalar)
	flat, err := r.flat(x)
	if err != nil {
		return keys, places, err
	}
	var keyPair, placePair [2]Array
	for i := range 2 {
		if keyPair[i], err = r.temp(t, count); err != nil {
			return keys, places, err
		}
		if indexed {
			if placePair[i], err = r.temp(ir.I32, count); err != nil {
				return keys, places, err
			}
		}
	}
	p := (&program{name: r.op, text: "(g, keys, x) => { keys[g.x] = undo(key(x[g.x])) }", real: realFor(x.Elem.Scalar)}).with("key", to).with("undo", undone(x.Elem.Scalar, descending))
	if err := r.launch(p, []int{count}, nil, in(keyPair[0]), in(flat)); err != nil {
		return keys, places, err
	}
	if indexed {
		if err := r.launch(&program{name: r.op, text: "(g, out) => { out[g.x] = g.x }"}, []int{count}, nil, in(placePair[0])); err != nil {
			return keys, places, err
		}
	}
	s := radix{Run: r, keys: keyPair, places: placePair, indexed: indexed, count: count, chunk: max(64, divide(count, 4096))}
	for shift := 0; shift < width; shift += 8 {
		if err := s.pass(t, shift); err != nil {
			return keys, places, err
		}
	}
	for shift := 0; rows > 1 && (rows-1)>>shift > 0; shift += 8 { // stable passes by the row
		if err := s.passByRow(shift, n); err != nil {
			return keys, places, err
		}
	}
	return s.keys[0], s.places[0], nil
}

// radix is the state of a radix sort: the current keys and indices, and the buffers for the next ones.
type radix struct {
	*Run
	keys, places [2]Array
	indexed      bool
	count, chunk int
	counts, sums Array
}

// pass sorts by 8 bits of the keys.
func (s *radix) pass(t ir.Type, shift int) error {
	digit := "(k, shift) => i32((k >>> shift) & 255)"
	if t == ir.U64 {
		digit = "(k, shift) => i32((k >> u64(shift)) & 255n)"
	}
	return s.sortBy(digit, shift, s.keys[0], "keys")
}

// passByRow sorts by 8 bits of the number of the row.
func (s *radix) passByRow(shift, n int) error {
	return s.sortBy(fmt.Sprintf("(place, shift) => (((place / %d) | 0) >> shift) & 255", n), shift, s.places[0], "places")
}

// sortBy sorts keys and indices by a digit of one of them.
func (s *radix) sortBy(digit string, shift int, by Array, name string) error {
	chunks := divide(s.count, s.chunk)
	if s.counts.Buffer == nil {
		var err error
		if s.counts, err = s.temp(ir.I32, digits*chunks); err != nil {
			return err
		}
		if s.sums, err = s.temp(ir.I32, digits*chunks); err != nil {
			return err
		}
	}
	if err := s.Queue.Fill(s.counts.Buffer, []byte{0}); err != nil {
		return err
	}
	p := (&program{name: s.op, text: "countDigits"}).with("digitOf", digit)
	if err := s.launch(p, []int{chunks}, nil, in(by), in(s.counts), i32(shift), i32(s.chunk)); err != nil {
		return err
	}
	if err := s.scanRows(s.sums, s.counts, 1, digits*chunks, sumOf(ir.I32)); err != nil {
		return err
	}
	starts := &program{name: s.op, text: "(g, counts, sums) => { counts[g.x] = sums[g.x] - counts[g.x] }"}
	if err := s.launch(starts, []int{digits * chunks}, nil, in(s.counts), in(s.sums)); err != nil {
		return err
	}
	var err error
	switch {
	case name == "places":
		p = (&program{name: s.op, text: "placeDigits"}).with("digitOf", digit)
		err = s.launch(p, []int{chunks}, nil, in(s.places[0]), in(s.keys[0]), in(s.counts), in(s.places[1]), in(s.keys[1]), i32(shift), i32(s.chunk))
	case s.indexed:
		p = (&program{name: s.op, text: "placeDigits"}).with("digitOf", digit)
		err = s.launch(p, []int{chunks}, nil, in(s.keys[0]), in(s.places[0]), in(s.counts), in(s.keys[1]), in(s.places[1]), i32(shift), i32(s.chunk))
	default:
		p = (&program{name: s.op, text: "placeKeys"}).with("digitOf", digit)
		err = s.launch(p, []int{chunks}, nil, in(s.keys[0]), in(s.counts), in(s.keys[1]), i32(shift), i32(s.chunk))
	}
	s.keys[0], s.keys[1] = s.keys[1], s.keys[0]
	s.places[0], s.places[1] = s.places[1], s.places[0]
	return err
}

// SortBy sorts along an axis by a function of two elements: its value is negative if the first one precedes, or is a boolean
// that reports it. The sort is stable. It returns the sorted elements and their indices.
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

// order returns the function that reports whether an element precedes another. Integers of 32 bits are compared as those of
// 64, if the function accepts them, so that differences do not wrap.
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

// TakeAlong returns the elements at indices along an axis: for each element of the indices the one of its row.
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

// merge sorts rows of n elements by merging runs of 1, 2, 4 … elements.
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

// Permutation returns the numbers from 0 up to n in a random order, which depends on the seed alone.
func (r *Run) Permutation(n int, seed uint64) (Array, error) {
	keys, err := r.create("permutation", ir.U64, []int{n}, "(g, out, seed, seedHigh) => { "+words+"out[g.x] = (u64(w0) << 32n) | u64(w1) }", nil, u32(uint32(seed)), u32(uint32(seed>>32)))
	if err != nil {
		return Array{}, err
	}
	defer func() { _ = keys.Free() }() // the commands keep the memory
	return r.ArgSort(keys, 0, false)
}
