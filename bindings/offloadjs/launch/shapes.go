package launch

import (
	"slices"
	"sync"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Shape describes the work-groups of a launch.
type Shape struct {
	Group  [3]int // work-items along each axis
	Ragged bool   // the launch's size is not a multiple of Group
}

// maxShapes limits the recorded shapes of a kernel's launches.
const maxShapes = 16

// shapes records the distinct shapes of a kernel's launches, in order of first occurrence. Launches of kernel.bind are not noted.
type shapes struct {
	mu   sync.Mutex
	list []Shape
	last Shape // the previous shape; accessed by note only
}

// note records the shape of a launch. It must run on the engine's goroutine; [shapes.all] may run on any.
func (s *shapes) note(size, group []int) {
	n := [3]int{element.Axis(size, 0), element.Axis(size, 1), element.Axis(size, 2)}
	shape := Shape{Group: [3]int{element.Axis(group, 0), element.Axis(group, 1), element.Axis(group, 2)}}
	if group == nil {
		shape.Group = contract.DefaultGroupSize(n)
	}
	for i, g := range shape.Group {
		shape.Ragged = shape.Ragged || n[i]%g != 0
	}
	if shape == s.last {
		return
	}
	s.last = shape
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < maxShapes && !slices.Contains(s.list, shape) {
		s.list = append(s.list, shape)
	}
}

// all returns a copy of the recorded shapes.
func (s *shapes) all() []Shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}
