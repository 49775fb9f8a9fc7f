package array

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Groups holds the groups of equal elements of an array, or of equal parts along an axis. The device stores their number in Count of
// the selection.
type Groups struct {
	Selection       // the places in order at which groups begin
	x         Array // copy of the elements
	axis      int
	order     Array // indices of the elements, sorted by their values
	rank      Array // for each place in order one more than the number of its group
}

// Distinct is the result of [Run.FinishGroups]. It has for each group a value, the index of its first element, and the number of
// its elements, in the order of the values. For each element it has the number of its group.
type Distinct struct {
	Values, Indices, Counts, Inverse Array
}

// Groups finds the groups of equal elements. NaN equals NaN. With an axis it compares the parts along that axis: their first
// elements decide about their order, then the next ones.
func (r *Run) Groups(x Array, axis int) (g Groups, err error) {
	end, err := r.begin("unique", x)
	if err != nil {
		return g, err
	}
	defer end()
	label := r.Label
	r.Label = "unique, intermediate"
	defer func() { r.Label = label }()
	rows, err := r.rowsOf(&g, x, axis)
	if err != nil {
		return g, err
	}
	n := rows.Dims()[0]
	if err := r.sortRows(&g, rows); err != nil {
		return g, err
	}
	first, err := r.temp(ir.I32, 1, n)
	if err != nil {
		return g, err
	}
	if g.rank, err = r.make(ir.I32, []int{n}); err != nil {
		return g, err
	}
	flags, err := r.flat(first)
	if err != nil {
		return g, err
	}
	if n > 0 {
		const text = "(g, out, x, order) => { const a = order[g.x], b = order[Math.max(g.x - 1, 0)]; let other = g.x === 0; " +
			"for (let k = 0; k < x.shape[1]; k++) other = other || (x[a][k] !== x[b][k] && !(isNaN(x[a][k]) && isNaN(x[b][k]))); out[g.x] = other ? 1 : 0 }"
		if err := r.launch(&program{name: r.op, text: text}, []int{n}, nil, in(flags), in(rows), in(g.order)); err != nil {
			return g, err
		}
		if err := r.scanRows(g.rank, first, 1, n, sumOf(ir.I32)); err != nil {
			return g, err
		}
	}
	g.Selection, err = r.selection(r.op, flags, "(x, i) => x[i] === 1", nil, "(x, i) => i", ir.Elem{Scalar: ir.I32})
	return g, err
}

// rowsOf copies the elements, and returns them as a matrix with a row for each element or part.
func (r *Run) rowsOf(g *Groups, x Array, axis int) (rows Array, err error) {
	if g.axis = axis; axis == All {
		if x, err = r.flat(x); err != nil {
			return rows, err
		}
		g.axis = 0
	} else if g.axis, err = r.axis(x, axis); err != nil {
		return rows, err
	}
	dims := x.Dims()
	if g.x, err = r.allocate(x.Elem, dims, r.Label); err != nil {
		return rows, err
	}
	if err := r.store(g.x, x); err != nil {
		return rows, err
	}
	rows = g.x
	if g.axis > 0 {
		order := []int{0, 1, 2}[:len(dims)]
		order = slices.Insert(slices.Delete(order, g.axis, g.axis+1), 0, g.axis)
		if rows, err = r.transpose(g.x, order); err != nil {
			return rows, err
		}
		r.scrap(rows)
	}
	n := dims[g.axis]
	return r.as(rows, n, int(x.Len())/max(n, 1))
}

// sortRows finds the order of rows: stable sorts by each column, from the last one on.
func (r *Run) sortRows(g *Groups, rows Array) (err error) {
	n, columns := rows.Dims()[0], rows.Dims()[1]
	if g.order, err = r.make(ir.I32, []int{n}); err != nil || n == 0 {
		return err
	}
	if err := r.launch(&program{name: r.op, text: "(g, out) => { out[g.x] = g.x }"}, []int{n}, nil, in(g.order)); err != nil {
		return err
	}
	key, err := r.temp(rows.Elem.Scalar, n)
	if err != nil {
		return err
	}
	text := "(g, out, x, order, k) => { out[g.x] = x[order[g.x]][k] }"
	if rows.Elem.Scalar.IsFloat() { // -0 equals 0
		text = "(g, out, x, order, k) => { const v = x[order[g.x]][k]; out[g.x] = v === 0 ? 0 : v }"
	}
	for k := columns - 1; k >= 0; k-- {
		if err := r.launch(&program{name: r.op, text: text}, []int{n}, nil, in(key), in(rows), in(g.order), i32(k)); err != nil {
			return err
		}
		places, err := r.places(key, 1, n, false)
		if err != nil {
			return err
		}
		r.scrap(places)
		next, err := r.Take(g.order, places, All)
		if err != nil {
			return err
		}
		r.scrap(g.order)
		g.order = next
	}
	return nil
}

// FinishGroups returns what is known of groups, of which there are n, and frees them. The caller frees the arrays that it does not
// need.
func (r *Run) FinishGroups(g Groups, n int) (d Distinct, err error) {
	defer func() {
		for _, a := range []Array{g.x, g.order, g.rank} {
			_ = a.Free() // commands that use them keep the memory
		}
	}()
	end, err := r.begin("unique")
	if err != nil {
		return d, err
	}
	defer end()
	starts, err := r.Finish(g.Selection, n)
	if err != nil {
		return d, err
	}
	defer func() { _ = starts.Free() }()
	if d.Indices, err = r.Take(g.order, starts, All); err != nil {
		return d, err
	}
	if d.Values, err = r.Take(g.x, d.Indices, g.axis); err != nil {
		return d, err
	}
	if d.Counts, err = r.make(ir.I32, []int{n}); err != nil {
		return d, err
	}
	if d.Inverse, err = r.make(ir.I32, g.order.Dims()); err != nil || n == 0 {
		return d, err
	}
	count := "(g, out, starts, all) => { const next = starts[Math.min(g.x + 1, starts.length - 1)]; out[g.x] = (g.x + 1 < starts.length ? next : all) - starts[g.x] }"
	if err := r.launch(&program{name: r.op, text: count}, []int{n}, nil, in(d.Counts), in(starts), i32(int(g.order.Len()))); err != nil {
		return d, err
	}
	place := "(g, out, order, rank) => { out[order[g.x]] = rank[g.x] - 1 }"
	return d, r.launch(&program{name: r.op, text: place}, []int{int(g.order.Len())}, nil, in(d.Inverse), in(g.order), in(g.rank))
}
