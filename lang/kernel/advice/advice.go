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

// Pattern is how the elements lie that items beside each other along x access.
type Pattern uint8

// The patterns.
const (
	Same       Pattern = iota // one element for all
	Contiguous                // one after the other
	Strided                   // a constant number of elements apart
	ByRows                    // in different rows
	Gathered                  // anywhere: the index is computed from data
)

// Access is an access to a buffer.
type Access struct {
	diag.Position
	Text    string // as written
	Array   *ir.Array
	Pattern Pattern
	Stride  int  // Strided: elements
	Checked bool // nothing in the kernel proves an index to be in bounds
}

// String describes the access.
func (a *Access) String() string {
	checked := "not checked, since it is proved in bounds"
	if a.Checked {
		checked = "checked, since nothing in the kernel bounds the index"
	}
	return fmt.Sprintf("`%s` at %d:%d: %s, %s", a.Text, a.Line, a.Col, a.pattern(), checked)
}

func (a *Access) pattern() string {
	switch a.Pattern {
	case Same:
		return "the same element for all items along x"
	case Contiguous:
		return "contiguous"
	case Strided:
		return fmt.Sprintf("strided by %d elements", a.Stride)
	case ByRows:
		return "strided by rows"
	}
	return "gathered, since the index is computed from data"
}

// Accesses gives the accesses to buffers that the optimised kernel has, each once.
func Accesses(c *kernel.Compiled) []Access {
	m := c.Module.Clone()
	opt.Run(m, opt.Default, nil)
	k := m.Kernels[0]
	affine := opt.FindAffine(k, k.Uniformity(ir.Scope{}))
	var list []Access
	k.Body.Walk(func(in *ir.Instr) {
		n := in.NumIndices()
		if in.Array == nil || in.Array.Space != ir.Global || n == 0 {
			return
		}
		site := k.Sites[in.Site]
		a := Access{Position: diag.Position{File: m.Files[site.File], Line: site.Line, Col: site.Col}, Text: site.Text, Array: in.Array}
		a.Pattern, a.Stride = patternOf(affine, in, n)
		for i := range n {
			a.Checked = a.Checked || in.Proved>>i&1 == 0
		}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	})
	return list
}

func patternOf(a *opt.Affine, in *ir.Instr, n int) (Pattern, int) {
	along := 0
	for i, index := range in.Args[:n] {
		s, ok := a.Strides(index)
		switch {
		case !ok:
			return Gathered, 0
		case i < n-1 && s[0] != 0:
			return ByRows, 0
		}
		along = int(s[0])
	}
	switch along {
	case 0:
		return Same, 0
	case 1:
		return Contiguous, 1
	}
	return Strided, along
}

// Warnings gives what the compiler found doubtful, and what costs time: accesses that are not contiguous, and checks
// that stay. It optimises the kernel to see that.
func Warnings(c *kernel.Compiled) diag.List {
	list := slices.Clone(c.Warnings)
	warn := func(a *Access, id diag.ID, rewrite, message string) {
		d := &diag.Diagnostic{ID: id, Position: a.Position, Message: message, Rewrite: rewrite, Excerpt: a.Text}
		if !slices.ContainsFunc(list, func(o *diag.Diagnostic) bool { return o.Error() == d.Error() }) {
			list = append(list, d)
		}
	}
	accesses := Accesses(c)
	for i := range accesses {
		a := &accesses[i]
		switch a.Pattern {
		case Gathered:
			warn(a, diag.GatheredAccess, "let neighbouring items use neighbouring elements, if the data allow it",
				fmt.Sprintf("`%s` is a gather: its index is computed from data", a.Text))
		case Strided, ByRows:
			warn(a, diag.StridedAccess, "let g.x be the last index, with no factor",
				fmt.Sprintf("`%s` is %s: items beside each other along x use elements that lie apart", a.Text, a.pattern()))
		}
		if a.Checked && a.Pattern != Same { // one check for all costs nothing
			warn(a, diag.UnprovedCheck, fmt.Sprintf("compare the index with the extent first, as in `if (i < %s.length)`", a.Array.Name),
				fmt.Sprintf("`%s` is checked at run time, since nothing in the kernel bounds the index", a.Text))
		}
	}
	return list.Sort()
}
