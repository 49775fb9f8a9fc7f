package offloadjs

import (
	"slices"
	"sync"

	contract "github.com/orepl/orepl/runtime/offload"
)

// Shape is how the groups of a launch were.
type Shape struct {
	Group  [3]int // work-items along each axis
	Ragged bool   // the launch's size was no multiple of it
}

// maxShapes bounds the recorded shapes of a kernel's launches.
const maxShapes = 16

// shapes are those of the launches of a kernel that observes its groups, each once, in the order of their first launch.
type shapes struct {
	mu   sync.Mutex
	list []Shape
	last Shape // of the caller of note
}

// note takes a launch over. Only the engine's goroutine notes; anybody may ask for the list.
func (s *shapes) note(size, group []int) {
	n := [3]int{axis(size, 0), axis(size, 1), axis(size, 2)}
	shape := Shape{Group: [3]int{axis(group, 0), axis(group, 1), axis(group, 2)}}
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

// all returns the shapes so far.
func (s *shapes) all() []Shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}
