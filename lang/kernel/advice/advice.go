// Package advice analyses a compiled kernel: how its items access memory, which index checks remain, and which code is
// doubtful.
package advice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/later"
)

// Check is the time at which an access compares its indices with the extents.
type Check uint8

// The kinds of checks.
const (
	Never  Check = iota // the indices are proved to be in bounds
	Launch              // at the launch, or by each item if the launch size proves nothing
	Item                // by each item
)

// Access is an access to a buffer or a shared array.
type Access struct {
	diag.Position
	Text   string // source text
	Array  *ir.Array
	Layout Layout
	Check  Check

	index  string // source text of the first unproved index, preferably a non-constant one; "" if unknown
	extent string // source text of the bound on the index
	sign   bool   // only index >= 0 is unproved
	wraps  bool   // the index is negative only after a wrap-around
	either bool   // neither bound of the index is proved
	fixed  bool   // all unproved indices are constants
	looped bool   // the access is in a loop
	picked bool   // the access follows a comparison that few items pass, such as with a constant
	op     ir.Op  // Load, Store or Atomic; Load for an atomic load

	elsewhere bool // the access is in another file than the kernel
}

// String returns a one-line description of the access.
func (a *Access) String() string {
	checked := "never checked"
	switch a.Check {
	case Launch:
		checked = "checked if the launch is larger than the extent"
	case Item:
		checked = "checked: " + a.doubt()
	}
	layout := a.Layout.String()
	if a.op != ir.Load {
		layout = strings.Replace(layout, "gathered", "scattered", 1)
	}
	if a.Layout.Gather {
		layout += fmt.Sprintf(" (%s, %s)", a.kind(), a.parted())
	}
	return fmt.Sprintf("`%s` at %s: %s, %s", a.Text, a.place(), layout, checked)
}

// place returns the position of the access, with the file name if it is not the kernel's file.
func (a *Access) place() string {
	if a.elsewhere {
		return a.Position.String()
	}
	return fmt.Sprintf("%d:%d", a.Line, a.Column)
}

// kind returns the name of a scattered access, by its operation.
func (a *Access) kind() string {
	switch a.op {
	case ir.Store:
		return "a scatter"
	case ir.Atomic:
		return "a scattered atomic operation"
	}
	return "a gather"
}

// small reports whether the elements are scalars of less than 32 bits. AVX2 loads and stores such elements one by one under a mask.
func (a *Access) small() bool { return a.Array.Elem.Record == nil && a.Array.Elem.Size() < 4 }

// parted returns a text about the effect of an `if` around the interior, for an index that is clamped in each item.
func (a *Access) parted() string {
	if a.small() {
		return fmt.Sprintf("which an `if` around the interior would spare: faster with AVX-512, slower with AVX2 for elements of %s", a.Array.Elem)
	}
	return "which an `if` around the interior would spare"
}

// neighbours returns advice for a scattered access. who is the subject that must allow the change, with its verb, such as "data
// allow".
func (a *Access) neighbours(who string) string {
	if a.op == ir.Atomic {
		return "count in a shared array first, or a private one and g.reduce where the elements are few; then add to the buffer once per group"
	}
	return fmt.Sprintf("let neighbouring items use neighbouring elements, if the %s it", who)
}

// doubt returns the unproved property of the index in a few words.
func (a *Access) doubt() string { return a.unproved("%s against %s") }

// reason returns why items check the access.
func (a *Access) reason() string { return a.unproved("%s is not proved to be below %s") }

// unproved returns the unproved property of the index; bound is the format for the index and the extent.
func (a *Access) unproved(bound string) string {
	index := "the index"
	if a.index != "" {
		index = "`" + a.index + "`"
	}
	switch {
	case a.wraps:
		return index + " may wrap below 0"
	case a.sign:
		return index + " may be negative"
	}
	return fmt.Sprintf(bound, index, a.extent)
}

// sparable reports whether a loop bound, or one comparison before the loop, could prove the index to be in bounds. This
// requires a single variable whose only unproved bound is the extent. Comparing a computed index inside the loop costs as much
// as the check.
func (a *Access) sparable() bool {
	return variable.Get().MatchString(a.index) && !a.sign && !a.wraps && !a.either
}

var variable = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_$][\pL\pN_$]*$`)
}}

// remedy returns advice to the user: a comparison with which the index of a sparable access is proved to be in bounds.
func (a *Access) remedy() string {
	return fmt.Sprintf("compare the index with the extent first, as in `if (%s < %s)`", a.index, a.extent) + worth
}

// worth is the text about the gain of a removed check.
const worth = "; in an innermost loop that may gain a few per cent"

// Accesses returns the distinct accesses to buffers in an optimized copy of the kernel, in the order of its code.
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

// Shared returns the distinct accesses to shared arrays in loops of the optimized kernel.
func Shared(c *kernel.Compiled) []Access {
	facts := &opt.Facts{}
	list := accessesTo(optimised(c, facts), facts, ir.Shared)
	return slices.DeleteFunc(list, func(a Access) bool { return !a.looped })
}

func accesses(m *ir.Module, facts *opt.Facts) []Access { return accessesTo(m, facts, ir.Global) }

func accessesTo(m *ir.Module, facts *opt.Facts, space ir.Space) []Access {
	k := m.Kernels[0]
	layouts, doubts := newLayouts(k), opt.Doubts(k, facts)
	var list []Access
	var walk func(b *ir.Block, looped, picked bool)
	walk = func(b *ir.Block, looped, picked bool) {
		if b == nil {
			return
		}
		for _, in := range b.Instrs {
			if n := in.NumIndices(); in.Array != nil && in.Array.Space == space && n > 0 {
				site := k.Sites[in.Site]
				a := Access{Position: diag.Position{File: m.Files[site.File], Line: site.Line, Column: site.Col}, Text: site.Text,
					Array: in.Array, Layout: layouts.of(in), looped: looped, picked: picked, op: in.Op, elsewhere: site.File != k.Sites[0].File}
				for i := range n {
					def := in.Args[i].Def
					fixed := def != nil && def.Op == ir.Const
					if in.Proved>>i&1 == 0 && (a.Check == Never || a.fixed && !fixed) {
						doubt := doubts[in]
						a.fixed = fixed
						a.Check, a.sign, a.wraps, a.either = Item, doubt.Negative>>i&1 != 0, doubt.Wrapped>>i&1 != 0, doubt.Either>>i&1 != 0
						a.index, a.extent = in.Subscript(i, site.Text), in.Bound(i)
					}
				}
				same := func(b Access) bool { b.op = a.op; return a == b } // a compound assignment loads and stores
				if in.Op == ir.Atomic && in.Atomic == ir.AtomicLoad {
					a.op = ir.Load
				}
				if !slices.ContainsFunc(list, same) {
					list = append(list, a)
				}
			}
			yes, no := picked, picked
			if in.Op == ir.If {
				yes, no = picked || picks(in.Args[0], ir.Eq), picked || picks(in.Args[0], ir.Ne)
			}
			walk(in.Then, looped || in.Op == ir.Loop, yes)
			walk(in.Else, looped, no)
			if in.Op == ir.If && in.Then.Terminator().Op != ir.Yield {
				picked = no // only items that fail the condition continue
			}
		}
	}
	walk(k.Body, false, false)
	return list
}

// picks reports whether few items take one side of a condition. With op Eq it is the true side, of an equality or a conjunction with
// one. With op Ne it is the false side, of an inequality. A negation exchanges the sides.
func picks(v *ir.Value, op ir.Op) bool {
	if v.Def == nil {
		return false
	}
	switch in := v.Def; in.Op {
	case op:
		return true
	case ir.And:
		return op == ir.Eq && (picks(in.Args[0], op) || picks(in.Args[1], op))
	case ir.Not:
		return picks(in.Args[0], map[ir.Op]ir.Op{ir.Eq: ir.Ne, ir.Ne: ir.Eq}[op])
	}
	return false
}

// Warnings returns the compiler's warnings and advice on performance. The advice is on strided and gathered accesses, and on atomic
// operations of all items on one element. It also names bounds checks that a loop condition could prove. Of several accesses to a
// buffer with the same kind of warning, it reports the first. It optimizes a copy of the kernel for the analysis.
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
		return a.Column - b.Column
	})
	for i := range accesses {
		a := &accesses[i]
		switch l := a.Layout; l.Pattern {
		case Same:
			if a.op == ir.Atomic && !a.picked {
				warn(a, diag.ContendedAtomic, "combine the values of a group first, as with g.reduce.add, and let one work-item do it: `if (g.local.x === 0) …`",
					fmt.Sprintf("`%s` works on one element for all items along x, which wait for each other", a.Text))
			}
		case Gathered:
			warn(a, diag.GatheredAccess, a.neighbours("data allow"),
				fmt.Sprintf("`%s` is %s: its index is computed from data", a.Text, a.kind()))
		case Irregular:
			if a.looped {
				warn(a, diag.GatheredAccess, a.neighbours("computation allows"),
					fmt.Sprintf("`%s` is %s: the distance between neighbouring items varies", a.Text, a.kind()))
			}
		case Contiguous:
			if l.Gather && !hasInterior(accesses, a.Array) {
				rewrite := "part the interior from the edges by an `if`, and limit the index at the edges alone"
				if a.small() {
					rewrite += "; for elements of " + a.Array.Elem.String() + " that is faster with AVX-512, but slower with AVX2: measure both"
				}
				warn(a, diag.GatheredAccess, rewrite,
					fmt.Sprintf("`%s` is %s: neighbouring items use neighbouring elements, but the index is limited for each", a.Text, a.kind()))
			}
		case Strided, ByRows:
			if l.Record > 0 && (l.Stride == 1 || l.Stride == -1) {
				break // records are accessed in order, and other fields may be needed too
			}
			warn(a, diag.StridedAccess, "let g.x be the last index, with no factor",
				fmt.Sprintf("`%s` is %s: items beside each other along x use elements that lie apart", a.Text, a.Layout))
		}
		// A check at the launch costs nothing. A comparison costs as much as the check if the index is a constant or arbitrary.
		if p := a.Layout.Pattern; a.Check == Item && a.looped && a.sparable() && !a.fixed && !a.Layout.Gather && p != Same && p != Irregular && p != Gathered {
			warn(a, diag.UnprovedCheck, a.remedy(),
				fmt.Sprintf("`%s` is checked in each iteration, since %s", a.Text, a.reason()))
		}
	}
	for k, n := range others {
		first[k].Message += fmt.Sprintf(" (and %d more of %s)", n, k.array)
	}
	return list.Sort()
}

// hasInterior reports whether a kernel accesses an array with unclamped indices at least as often as with indices that each item
// clamps by itself. The kernel then treats the interior apart from the edges already.
func hasInterior(accesses []Access, array *ir.Array) bool {
	limited, free := 0, 0
	for i := range accesses {
		if a := &accesses[i]; a.Array == array && a.Layout.Pattern == Contiguous {
			if a.Layout.Gather {
				limited++
			} else if !a.Layout.Edges {
				free++
			}
		}
	}
	return free >= limited
}

// NarrowGroups returns a warning for each reduction and scan of a kernel that was launched with groups of several short rows. group
// is their size.
func NarrowGroups(c *kernel.Compiled, group [3]int) diag.List {
	var list diag.List
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Reduce && in.Op != ir.Scan {
			return
		}
		site := c.Kernel.Sites[in.Site]
		list = append(list, &diag.Diagnostic{ID: diag.NarrowGroups, Excerpt: site.Text,
			Position: diag.Position{File: c.Module.Files[site.File], Line: site.Line, Column: site.Col},
			Message:  fmt.Sprintf("`%s` combines the values of groups of %d × %d items, whose rows are short", site.Text, group[0], group[1]*group[2]),
			Rewrite:  "where a group may be a row, launch with { groupSize: [256, 1] }, which takes a third of the time"})
	})
	return list
}

// Tile is the first store to a shared array, in a kernel with barriers. If the launch size is not a multiple of the group size,
// out-of-range items store nothing there.
type Tile struct {
	diag.Position
	Text string // source text
}

// String describes the tile, and what it means for launches with a ragged size.
func (t *Tile) String() string {
	return fmt.Sprintf("`%s` at %d:%d: items beyond a ragged size store nothing here; where others read it, launch with { groups, groupSize } and "+
		"compare with the length at the edge", t.Text, t.Line, t.Column)
}

// RaggedTiles returns a warning per tile, for launches whose size is not a multiple of the group size.
func RaggedTiles(c *kernel.Compiled) diag.List {
	var list diag.List
	for _, t := range Tiles(c) {
		list = append(list, &diag.Diagnostic{ID: diag.RaggedTile, Position: t.Position, Excerpt: t.Text,
			Message: fmt.Sprintf("`%s` is stored by fewer items in the last group: a launch had a size that is no multiple of its group size", t.Text),
			Rewrite: "launch with { groups, groupSize }, and compare with the length at the edge"})
	}
	return list
}

// Tiles returns the tiles of a kernel, in the order of its shared arrays.
func Tiles(c *kernel.Compiled) []Tile {
	first, barriers := map[*ir.Array]*ir.Instr{}, 0
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Barrier:
			barriers++
		case in.Op == ir.Store && in.Array.Space == ir.Shared && first[in.Array] == nil:
			first[in.Array] = in
		}
	})
	var list []Tile
	for _, a := range c.Kernel.Arrays {
		if in := first[a]; in != nil && barriers > 0 {
			site := c.Kernel.Sites[in.Site]
			list = append(list, Tile{diag.Position{File: c.Module.Files[site.File], Line: site.Line, Column: site.Col}, site.Text})
		}
	}
	return list
}
