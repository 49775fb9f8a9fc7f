package array_test

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/session"
)

// failing is a host whose buffer or launch with a number fails. It knows the buffers that it made.
type failing struct {
	left int // calls before the one that fails
	made []*session.Buffer
}

var errFailing = errors.New("the host fails")

func (h *failing) next() error {
	if h.left--; h.left == -1 {
		return errFailing
	}
	return nil
}

func (h *failing) NewBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) {
	if err := h.next(); err != nil {
		return nil, err
	}
	b, err := d.NewBuffer(opts)
	h.made = append(h.made, b)
	return b, err
}

func (h *failing) Launch(q *session.Queue, c *session.Call) error {
	if err := h.next(); err != nil {
		return err
	}
	return q.Launch(c)
}

// TestFailuresFree fails each buffer and each launch of operations in turn: all buffers that they made are freed.
func TestFailuresFree(t *testing.T) {
	run := open(t)
	check := checked(t)
	x, k := check(run.Random(ir.F32, []int{30, 20}, 1, 0, 1)), check(run.Random(ir.I32, []int{9}, 1, 0, 9))
	pairs, edges := check(run.Random(ir.F32, []int{9, 2}, 1, 0, 1)), check(run.Linspace(ir.F32, 0, 1, 5))
	one := func(fn func() (array.Array, error)) func() ([]array.Array, error) {
		return func() ([]array.Array, error) {
			a, err := fn()
			return []array.Array{a}, err
		}
	}
	operations := map[string]func() ([]array.Array, error){
		"groups": func() ([]array.Array, error) {
			g, err := run.Groups(pairs, 0)
			if err != nil {
				return nil, err
			}
			d, err := run.FinishGroups(g, 9)
			return []array.Array{d.Values, d.Indices, d.Counts, d.Inverse}, err
		},
		"filter": func() ([]array.Array, error) {
			s, err := run.Filter(array.Text("v => v > 0.5"), x)
			if err != nil {
				return nil, err
			}
			a, err := run.Wait(t.Context(), s)
			return []array.Array{a}, err
		},
		"histogram": func() ([]array.Array, error) {
			counts, edges, err := run.Histogram(x, 7, 0, 0)
			return []array.Array{counts, edges}, err
		},
		"edges":     one(func() (array.Array, error) { return run.HistogramOf(x, edges) }),
		"sorted":    one(func() (array.Array, error) { return run.Sorted(x, 0, true) }),
		"argsort":   one(func() (array.Array, error) { return run.ArgSort(x, 1, false) }),
		"take":      one(func() (array.Array, error) { return run.Take(x, k, 1) }),
		"cumsum":    one(func() (array.Array, error) { return run.CumSum(x, 0) }),
		"std":       one(func() (array.Array, error) { return run.Std(x, 0, false, 1) }),
		"mean":      one(func() (array.Array, error) { return run.Mean(x, array.All, false) }),
		"argmax":    one(func() (array.Array, error) { return run.ArgMax(x, array.All, false) }),
		"quantile":  one(func() (array.Array, error) { return run.QuantileAxis(x, []float64{0.2, 0.7}, 0, false) }),
		"matmul":    one(func() (array.Array, error) { return run.MatMul(x, check(run.Reshape(x, []int{20, 30}))) }),
		"trace":     one(func() (array.Array, error) { return run.Trace(x, 0) }),
		"concat":    one(func() (array.Array, error) { return run.Concat([]array.Array{x, x}, 1) }),
		"tile":      one(func() (array.Array, error) { return run.Tile(x, []int{2, 3}) }),
		"diff":      one(func() (array.Array, error) { return run.Diff(x, 2, 0) }),
		"bincount":  one(func() (array.Array, error) { return run.BinCount(k, 9) }),
		"transpose": one(func() (array.Array, error) { return run.Transpose(x, nil) }),
	}
	direct := run.Host
	for name, op := range operations {
		fails := 0
		for {
			h := &failing{left: fails}
			run.Host = h
			results, err := op()
			run.Host = direct
			if err == nil {
				for _, a := range results {
					_ = a.Free()
				}
			} else if !errors.Is(err, errFailing) {
				t.Fatalf("%s: %v", name, err)
			}
			open := 0
			for _, b := range h.made {
				if !b.Freed() {
					open++
				}
			}
			if open > 0 {
				t.Errorf("%s, failure %d: %d of %d buffers are not freed (%v)", name, fails, open, len(h.made), err)
			}
			if err == nil {
				break
			}
			fails++
		}
		if fails < 2 {
			t.Errorf("%s failed %d times", name, fails)
		}
	}
}
