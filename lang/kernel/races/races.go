// Package races finds elements that several items of a launch access without synchronization, one of them writing.
//
// It evaluates a sample of the launch's items with the launch's sizes, extents and numbers. Values loaded from buffers are
// unknown, but have identities, so that equal values are recognized. A warning names two items of the sample that access one
// element, or an array with fewer elements than items that store to it.
package races

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/spelling"
)

// Possible reports whether a kernel has plain stores to buffers or shared arrays. Without them this package finds no race in
// any launch.
func Possible(c *kernel.Compiled) bool {
	found := false
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		found = found || in.Op == ir.Store && (in.Array.Space == ir.Global || in.Array.Space == ir.Shared)
	})
	return found
}

// Warnings returns a warning for each place at which sampled items of the launch are found to race, in order of the source. It
// analyses nothing if the launch has fewer than two items, or no access can race.
func Warnings(c *kernel.Compiled, l *Launch) diag.List {
	if l.items() < 2 || !Possible(c) || apart(c.Kernel, l) {
		return nil
	}
	m := newMachine(c.Kernel, l)
	m.hint = true
	m.run(0, [3]int64{})
	m.hint = false
	var hints []int64
	for n := range m.hints {
		hints = append(hints, n)
	}
	slices.Sort(hints)
	m.accesses = nil
	items := l.sample(hints)
	for i, at := range items {
		if m.steps > maxSteps && i >= 8 {
			items = items[:i]
			break
		}
		m.run(i, at)
	}
	s := &search{m: m, c: c, items: items, found: map[diag.Position]*finding{}, sure: map[*ir.Array]bool{}}
	s.elements()
	s.crowds()
	return s.list()
}

// problem is the kind of a race. The kind that tells the most comes first.
type problem uint8

const (
	lostUpdate problem = iota // items load an element and store to it, so that changes get lost
	openStore                 // items store different values to an element, or an atomic operation changes it, too
	openRead                  // an item loads an element to which another one stores
)

// finding is a race at a place of the source.
type finding struct {
	problem problem
	a, b    *access // a is at the place
	crowd   int64   // number of elements of the array, if at least twice as many items store to it; 0 for a pair of items
}

// search compares the accesses of items.
type search struct {
	m     *machine
	c     *kernel.Compiled
	items [][3]int64                 // positions of the sampled items
	found map[diag.Position]*finding // findings, by the place of access a
	sure  map[*ir.Array]bool         // arrays whose stores are judged already, so that reads need no warning
}

// maxShared is the maximum number of accesses that are compared per element, or per 8 bytes of memory where addresses are known.
const maxShared = 48

// elements searches for pairs of accesses of one element.
func (s *search) elements() {
	by := map[uint64][]*access{}
	var order []uint64
	for i := range s.m.accesses {
		a := &s.m.accesses[i]
		key := a.addr.id
		if a.addr.known {
			key = hash(a.addr.base, uint64(a.addr.off>>3)) // elements of 8 bytes may overlap smaller ones
		}
		if by[key] == nil {
			order = append(order, key)
		}
		if len(by[key]) < maxShared {
			by[key] = append(by[key], a)
		}
	}
	for _, reads := range []bool{false, true} {
		for _, key := range order {
			list := by[key]
			for i, a := range list {
				for _, b := range list[i+1:] {
					if a.item == b.item || a.kind != write && b.kind != write || (a.kind == read || b.kind == read) != reads || !s.unordered(a, b) {
						continue
					}
					s.pair(a, b)
				}
			}
		}
	}
}

// unordered reports whether two accesses of different items may touch the same bytes and happen in either order.
func (s *search) unordered(a, b *access) bool {
	if a.addr.known && (a.addr.off+a.addr.size <= b.addr.off || b.addr.off+b.addr.size <= a.addr.off) {
		return false
	}
	if a.epoch != b.epoch && s.group(a) == s.group(b) {
		return false
	}
	return !excludes(a.guards, b.guards)
}

func (s *search) group(a *access) (g [3]int64) {
	for axis, x := range s.items[a.item] {
		g[axis] = x / max(s.m.l.GroupSize[axis], 1)
	}
	return g
}

// pair records the race of two unordered accesses of one element, if there is one.
func (s *search) pair(a, b *access) {
	ga, gb := unshared(a.guards, b.guards), unshared(b.guards, a.guards)
	certain := len(ga) == 0 && len(gb) == 0
	switch {
	case a.kind == write && b.kind == write:
		switch {
		case a.update && b.update:
			if a.value.id == a.loaded || b.value.id == b.loaded || a.value.id == b.value.id && idempotent(a.in) {
				s.sure[a.in.Array] = true
				return
			}
			s.add(lostUpdate, a, b)
		case a.value.id == b.value.id:
		case a.decided && b.decided:
			s.add(lostUpdate, a, b)
		case certain || single(ga) && single(gb):
			if b.in.Site < a.in.Site {
				a, b = b, a
			}
			s.add(openStore, a, b)
		}
	case a.kind == read || b.kind == read:
		if a.kind != read {
			a, b = b, a
		}
		if certain && !s.sure[a.in.Array] && !s.sure[b.in.Array] && !s.flag(b) {
			s.add(openRead, a, b)
		}
	case certain: // an atomic operation and a store
		if a.kind != write {
			a, b = b, a
		}
		s.add(openStore, a, b)
	}
}

// flag reports whether a store writes a known number to an element to which another item stores, too. Such an element is taken for a
// flag, which all items set to the same number.
func (s *search) flag(w *access) bool {
	if !w.value.known {
		return false
	}
	n := 0
	for i := range s.m.accesses {
		a := &s.m.accesses[i]
		if a.kind == write && a.addr.id == w.addr.id && a.item != w.item {
			n++
		}
	}
	return n > 0
}

// idempotent reports whether the value of a store is the result of a Min, Max, And or Or, perhaps converted. If one operand is
// the old element, repetitions of the store change nothing.
func idempotent(in *ir.Instr) bool {
	d := in.Args[len(in.Args)-1].Def
	for d != nil && (d.Op == ir.Quant || d.Op == ir.Wrap || d.Op == ir.Convert) {
		d = d.Args[0].Def
	}
	if d == nil {
		return false
	}
	switch d.Op {
	case ir.Min, ir.Max, ir.And, ir.Or:
		return true
	}
	return false
}

// crowds searches for stores to buffers at unknown indices that all sampled items execute. It finds races only if the launch
// has at least twice as many items as the buffer has elements.
func (s *search) crowds() {
	total := s.m.l.items()
	by := map[*ir.Instr][]*access{}
	var order []*ir.Instr
	for i := range s.m.accesses {
		a := &s.m.accesses[i]
		if a.kind != write || a.addr.known || a.in.Array.Space != ir.Global || a.addr.index.sync {
			continue
		}
		if by[a.in] == nil {
			order = append(order, a.in)
		}
		by[a.in] = append(by[a.in], a)
	}
	for _, in := range order {
		dims := s.m.l.Extents[in.Array.Name]
		if dims == nil {
			continue
		}
		capacity := int64(1)
		for _, n := range dims {
			capacity *= n
		}
		for i := in.Array.Rank; i < len(in.Resolve().Extents); i++ {
			capacity *= int64(max(in.Resolve().Extents[i], 1))
		}
		items := map[int]bool{}
		update, equal, free := true, true, true
		list := by[in]
		for _, a := range list {
			items[a.item] = true
			update = update && a.update
			equal = equal && a.value.id == list[0].value.id
			free = free && own(a)
		}
		if len(items) < len(s.items) || !free || total < 2*capacity {
			continue
		}
		p := openStore
		switch {
		case update && !(equal && idempotent(in)):
			p = lostUpdate
		case equal || slices.ContainsFunc(list, func(a *access) bool { return len(a.guards) > 0 }):
			continue
		}
		s.put(&finding{problem: p, a: list[0], b: list[0], crowd: capacity})
	}
}

// own reports whether an access depends on conditions of its own index only.
func own(a *access) bool {
	for _, g := range a.guards {
		if g.opaque || g.cond.leaf == 0 || g.cond.leaf != a.addr.index.leaf {
			return false
		}
	}
	return true
}

// position returns the start and the end of an instruction in the source, and its text.
func (s *search) position(in *ir.Instr) (at, end diag.Position, text string) {
	site := s.c.Kernel.Sites[in.Site]
	at = diag.Position{File: s.c.Module.Files[site.File], Line: site.Line, Column: site.Col}
	end = at
	end.Column += len([]rune(site.Text))
	return at, end, site.Text
}

func (s *search) add(p problem, a, b *access) {
	s.put(&finding{problem: p, a: a, b: b})
	if p != openRead {
		s.sure[a.in.Array], s.sure[b.in.Array] = true, true
	}
}

func (s *search) put(f *finding) {
	at, _, _ := s.position(f.a.in)
	if old := s.found[at]; old == nil || f.problem < old.problem {
		s.found[at] = f
	}
}

// list returns the findings as warnings, in order of the source.
func (s *search) list() diag.List {
	var out diag.List
	for at, f := range s.found {
		_, end, text := s.position(f.a.in)
		d := &diag.Diagnostic{ID: diag.RacyAccess, Position: at, End: end, Excerpt: text}
		other, _, otherText := s.position(f.b.in)
		x, y := fmt.Sprint(s.items[f.a.item]), fmt.Sprint(s.items[f.b.item])
		x, y = strings.ReplaceAll(x, " ", ", "), strings.ReplaceAll(y, " ", ", ")
		switch {
		case f.crowd > 0 && f.problem == lostUpdate:
			d.Message = fmt.Sprintf("`%s` is read and stored by %d work-items, and %s has %s: changes of items that share an element get lost",
				text, s.m.l.items(), f.a.in.Array.Name, spelling.Count(f.crowd, "element"))
		case f.crowd > 0:
			d.Message = fmt.Sprintf("`%s` is stored by %d work-items, and %s has %s: which of the values stays is not defined",
				text, s.m.l.items(), f.a.in.Array.Name, spelling.Count(f.crowd, "element"))
		case f.problem == lostUpdate:
			d.Message = fmt.Sprintf("`%s` is read and stored by several work-items at once, such as %s and %s: changes get lost", text, x, y)
		case f.problem == openStore && f.b.kind == write:
			d.Message = fmt.Sprintf("`%s` gets different values from several work-items, such as %s and %s: which of them stays is not defined", text, x, y)
		case f.problem == openStore:
			d.Message = fmt.Sprintf("`%s` is stored by work-item %s while others work on the element by Atomics, such as %s: their order is not defined", text, x, y)
		default:
			d.Message = fmt.Sprintf("`%s` is read by work-item %s while work-item %s stores to the element: which value is read is not defined", text, x, y)
		}
		if f.crowd == 0 && other.Line != at.Line {
			d.Notes = append(d.Notes, diag.Note{Position: other, Message: fmt.Sprintf("`%s` is the other access", otherText)})
		}
		d.Rewrite = s.rewrite(f, text)
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out.Sort()
}

// rewrite returns what to do about a finding.
func (s *search) rewrite(f *finding, text string) string {
	a := f.a.in.Array
	one := "let one item store, as in `if (g.x === 0)`"
	if a.Space == ir.Shared {
		one = "let one item of the group store, as in `if (g.local.x === 0)`"
	}
	switch f.problem {
	case lostUpdate:
		name, sum := atomicOf(f.a.in)
		index, ok := strings.CutPrefix(text, a.Name+"[")
		if ok && strings.HasSuffix(index, "]") && !strings.Contains(index, "][") && a.Rank == 1 && a.Elem.Record == nil {
			index = strings.TrimSuffix(index, "]")
		} else {
			index = "…"
		}
		switch t := f.a.in.Accessed(); {
		case name != "" && a.Elem.Record == nil && (t.Size() >= 4 && t != ir.Bool):
			out := fmt.Sprintf("write `Atomics.%s(%s, %s, …)`", name, a.Name, index)
			if sum && a.Space == ir.Global {
				out += ", or combine the values of a group by `g.reduce.add` and let one item of it add the sum"
			}
			return out
		case name != "" && a.Elem.Record == nil:
			return fmt.Sprintf("use a buffer of i32 or f32, and `Atomics.%s(%s, %s, …)`", name, a.Name, index)
		}
		return "give each item an element of its own, and combine them in a second kernel; or " + one
	case openStore:
		if f.b.kind != write {
			return "separate both by g.barrier(), or use another launch for one of them"
		}
		return "give each item an element of its own, or " + one
	}
	if a.Space == ir.Shared {
		return "write `g.barrier()` between the store and the read"
	}
	return "store to another buffer than the one that is read, or use a launch for each"
}

// atomicOf returns the atomic operation that can replace a load and the store after it, or "". The result sum reports whether the
// stored value is a sum.
func atomicOf(in *ir.Instr) (name string, sum bool) {
	d := in.Args[len(in.Args)-1].Def
	for d != nil && (d.Op == ir.Quant || d.Op == ir.Wrap || d.Op == ir.Convert) {
		d = d.Args[0].Def
	}
	if d == nil {
		return "max", false
	}
	switch d.Op {
	case ir.Add, ir.FMA:
		return "add", true
	case ir.Sub:
		return "sub", false
	case ir.Min:
		return "min", false
	case ir.Max:
		return "max", false
	case ir.And:
		return "and", false
	case ir.Or:
		return "or", false
	case ir.Xor:
		return "xor", false
	case ir.Load: // stored under a condition
		return "max", false
	}
	return "", false
}
