package races

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
)

// maxAnalyses is the maximum number of different launches that a tracker analyses.
const maxAnalyses = 16

// Tracker collects the warnings of a compiled kernel's launches. Its zero value is ready for use, also by several goroutines.
type Tracker struct {
	mu       sync.Mutex
	launched map[string]bool // by [Launch.key]
	never    bool            // no launch can race
	found    diag.List
}

// Done reports whether further launches need no analysis: no launch can race, or maxAnalyses were analysed.
func (t *Tracker) Done() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.never || len(t.launched) >= maxAnalyses
}

// Launch analyses a launch and returns the warnings at places without earlier ones. It returns nil for a launch that equals an
// earlier one, and after maxAnalyses launches.
func (t *Tracker) Launch(c *kernel.Compiled, l *Launch) diag.List {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.launched == nil {
		t.launched = map[string]bool{}
		t.never = !Possible(c)
	}
	key := l.key()
	if t.never || t.launched[key] || len(t.launched) >= maxAnalyses {
		return nil
	}
	t.launched[key] = true
	var fresh diag.List
	for _, d := range Warnings(c, l) {
		if !slices.ContainsFunc(t.found, func(f *diag.Diagnostic) bool { return f.Position == d.Position }) {
			fresh = append(fresh, d)
		}
	}
	t.found = append(t.found, fresh...).Sort()
	return fresh
}

// List returns the warnings of the launches so far, or of a typical launch if there was none. It returns nil for a nil Tracker.
func (t *Tracker) List(c *kernel.Compiled) diag.List {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.launched == nil {
		return Warnings(c, Assumed(c))
	}
	return slices.Clone(t.found)
}

// key returns a text that is the same for launches with equal sizes, extents, numbers and overlaps.
func (l *Launch) key() string {
	var b strings.Builder
	fmt.Fprint(&b, l.Size, l.GroupSize)
	for _, name := range slices.Sorted(maps.Keys(l.Extents)) {
		fmt.Fprint(&b, name, l.Extents[name])
	}
	for _, name := range slices.Sorted(maps.Keys(l.Scalars)) {
		fmt.Fprint(&b, name, l.Scalars[name], " ")
	}
	memory := map[any]int{}
	for _, name := range slices.Sorted(maps.Keys(l.Memory)) {
		at := l.Memory[name]
		if memory[at.Memory] == 0 {
			memory[at.Memory] = len(memory) + 1
		}
		fmt.Fprint(&b, name, memory[at.Memory], "+", at.Offset, " ")
	}
	return b.String()
}
