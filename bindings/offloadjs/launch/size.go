package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
)

// sizeOption parses the option size: counts in the order x, y, z, or a buffer, for one work-item per element. Without the option it
// returns nil.
func (m *Module) sizeOption(o *option.Set) []int {
	v := o.Get("size")
	if object, ok := v.(*goja.Object); ok {
		if b := m.buffers.Of(object); b != nil {
			dims := slices.Clone(b.Dims())
			slices.Reverse(dims)
			return dims
		}
	}
	return o.ToExtents("size", v)
}

// checkAxes returns an error if the size equals the shape, and not the reversed shape, of a buffer that the kernel indexes by
// rows. Sizes list x first but shapes list the outermost dimension first, so the launch would miss some elements.
func (p *prepared) checkAxes(name string, size []int, passed []*buffers.Buffer) error {
	if len(size) < 2 {
		return nil
	}
	for i, b := range passed {
		if b == nil || len(b.Dims()) != len(size) || !slices.Equal(b.Dims(), size) {
			continue
		}
		reversed := slices.Clone(size)
		if slices.Reverse(reversed); slices.Equal(reversed, size) || !p.byRows(i) {
			continue
		}
		param := p.Params[i].Name
		var shape []string
		for axis := len(size) - 1; axis >= 0; axis-- {
			shape = append(shape, fmt.Sprintf("%s.shape[%d]", param, axis))
		}
		return contract.Errorf(contract.InvalidSize, "launch", "the size is the shape of %s, [%s], but sizes go x first, and shapes outermost first", param, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(size)), ", "), "[]")).
			On("", name).WithHint("write size: %s, or size: [%s]", param, strings.Join(shape, ", "))
	}
	return nil
}

// byRows reports whether an access of a parameter is indexed by coordinates in the order m[g.y][g.x], and no access has a coordinate
// at another index.
func (s *specialization) byRows(param int) bool {
	if known, ok := s.rows[param]; ok {
		return known
	}
	array, found, other := s.Kernel.Params[param].Array, false, false
	s.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Array != array || in.NumIndices() == 0 {
			return
		}
		rows := true
		for i, index := range in.Args[:in.NumIndices()] {
			axis, ok := coordinate(index)
			outermost := in.NumIndices() - 1 - i
			rows, other = rows && ok && axis == outermost, other || ok && axis != outermost
		}
		found = found || rows
	})
	if s.rows == nil {
		s.rows = map[int]bool{}
	}
	s.rows[param] = found && !other
	return s.rows[param]
}

// coordinate returns the axis of g.x, g.y or g.z, also plus or minus a constant. It returns false for other values.
func coordinate(v *ir.Value) (axis int, ok bool) {
	in := v.Def
	if in == nil {
		return 0, false
	}
	switch in.Op {
	case ir.Item:
		return in.Axis, in.Item == ir.GlobalID
	case ir.Add, ir.Sub:
		if by := in.Args[1].Def; by != nil && by.Op == ir.Const {
			return coordinate(in.Args[0])
		}
	}
	return 0, false
}
