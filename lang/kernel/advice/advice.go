// Package advice says of a compiled kernel how its items access memory, which checks of indices stay, and what is
// doubtful in it.
package advice

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// Check says when the indices of an access are compared with the extents.
type Check uint8

// The kinds of checks.
const (
	Never  Check = iota // the kernel proves them to be in bounds
	Launch              // by items, unless the size of the launch proves it
	Item                // by each item
)

// Access is an access to a buffer.
type Access struct {
	diag.Position
	Text   string // as written
	Array  *ir.Array
	Layout Layout
	Check  Check

	bounds string // what the first index that nothing proves should be compared with, as a condition
	sign   bool   // of it only that it is not negative is not proved
	looped bool   // it stands in a loop
}

// String describes the access.
func (a *Access) String() string {
	checked := "not checked, since it is proved in bounds"
	switch a.Check {
	case Launch:
		checked = "checked unless the launch's size is within the extent"
	case Item:
		checked = "checked, since " + a.reason()
	}
	return fmt.Sprintf("`%s` at %d:%d: %s, %s", a.Text, a.Line, a.Col, a.Layout, checked)
}

// reason is why items check the access.
func (a *Access) reason() string {
	if a.sign {
		return "the index may be negative"
	}
	return "nothing in the kernel bounds the index"
}

// Accesses gives the accesses to buffers that the optimised kernel has, each once.
func Accesses(c *kernel.Compiled) []Access {
	facts := &opt.Facts{}
	plain := optimised(c, facts)
	facts.Within = opt.SizeFacts(plain.Kernels[0])
	bare := accesses(plain, nil)
	list := accesses(optimised(c, facts), facts)
	for i := range list {
		a := &list[i]
		same := func(b Access) bool { return b.Check != Never && b.Position == a.Position && b.Text == a.Text }
		if a.Check == Never && slices.ContainsFunc(bare, same) {
			a.Check = Launch
		}
	}
	return list
}

func optimised(c *kernel.Compiled, facts *opt.Facts) *ir.Module {
	m := c.Module.Clone()
	opt.Run(m, opt.Default, facts)
	return m
}

func accesses(m *ir.Module, facts *opt.Facts) []Access {
	k := m.Kernels[0]
	layouts, negative := newLayouts(k), opt.Negative(k, facts)
	var list []Access
	var walk func(b *ir.Block, looped bool)
	walk = func(b *ir.Block, looped bool) {
		if b == nil {
			return
		}
		for _, in := range b.Instrs {
			if n := in.NumIndices(); in.Array != nil && in.Array.Space == ir.Global && n > 0 {
				site := k.Sites[in.Site]
				a := Access{Position: diag.Position{File: m.Files[site.File], Line: site.Line, Col: site.Col}, Text: site.Text,
					Array: in.Array, Layout: layouts.of(in), looped: looped}
				for i := range n {
					if in.Proved>>i&1 == 0 && a.Check == Never {
						a.Check, a.sign = Item, negative[in]>>i&1 != 0
						a.bounds = "i < " + in.Bound(i)
						if a.sign {
							a.bounds = "i >= 0 && " + a.bounds
						}
					}
				}
				if !slices.Contains(list, a) {
					list = append(list, a)
				}
			}
			walk(in.Then, looped || in.Op == ir.Loop)
			walk(in.Else, looped)
		}
	}
	walk(k.Body, false)
	return list
}

// Warnings gives what the compiler found doubtful, and what costs time that other code could spare: accesses of
// neighbouring items that lie apart, and checks in loops of indices that the loop could bound. Of several accesses to
// one buffer that cost the same it names the first. It optimises the kernel to see that.
func Warnings(c *kernel.Compiled) diag.List {
	list := slices.Clone(c.Warnings)
	type kind struct {
		id    diag.ID
		array string
	}
	first, others := map[kind]*diag.Diagnostic{}, map[kind]int{}
	warn := func(a *Access, id diag.ID, rewrite, message string) {
		k := kind{id, a.Array.Name}
		if d := first[k]; d == nil {
			first[k] = &diag.Diagnostic{ID: id, Position: a.Position, Message: message, Rewrite: rewrite, Excerpt: a.Text}
			list = append(list, first[k])
		} else if d.Position != a.Position {
			others[k]++
		}
	}
	accesses := Accesses(c)
	slices.SortStableFunc(accesses, func(a, b Access) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	for i := range accesses {
		a := &accesses[i]
		switch l := a.Layout; l.Pattern {
		case Gathered:
			warn(a, diag.GatheredAccess, "let neighbouring items use neighbouring elements, if the data allow it",
				fmt.Sprintf("`%s` is a gather: its index is computed from data", a.Text))
		case Strided, ByRows:
			if l.Record > 0 && (l.Stride == 1 || l.Stride == -1) {
				break // one record after the other: the other fields may be needed too
			}
			warn(a, diag.StridedAccess, "let g.x be the last index, with no factor",
				fmt.Sprintf("`%s` is %s: items beside each other along x use elements that lie apart", a.Text, a.Layout))
		}
		// One check for all items costs nothing, and a comparison in its place as much where the index is anything.
		if p := a.Layout.Pattern; a.Check == Item && a.looped && p != Same && p != Irregular && p != Gathered {
			warn(a, diag.UnprovedCheck, fmt.Sprintf("compare the index with the extent first, as in `if (%s)`", a.bounds),
				fmt.Sprintf("`%s` is checked in each iteration, since %s", a.Text, a.reason()))
		}
	}
	for k, n := range others {
		first[k].Message += fmt.Sprintf(" (and %d more of %s)", n, k.array)
	}
	return list.Sort()
}
