package ir

// Level is the set of work-items in which a value is uniform.
type Level uint8

// The levels, from the most uniform.
const (
	LaunchUniform Level = iota // equal for all items of the launch
	GroupUniform               // equal for all items of a group
	Varying                    // may differ between items of a group
)

var levelNames = [...]string{"launch-uniform", "group-uniform", "varying"}

// String returns the name of the level.
func (l Level) String() string { return levelNames[min(l, Varying)] }

// Scope is the set of items for which uniformity is computed. The zero value is the scope of the barrier rule: all items of a
// group, which advance independently.
type Scope struct {
	// Lockstep restricts the group to items that one thread steps together, such as vector lanes. If they load from one
	// address, they read one value, even if other items write there.
	Lockstep bool
	// UniformAxis holds the axes on which these items have equal identifiers.
	UniformAxis [3]bool
	// Apart is a buffer that overlaps no other, or nil. Stores to it do not make loads from other buffers varying. Loads from
	// it are treated as if the kernel writes it.
	Apart *Array
}

// Uniformity is the result of the uniformity analysis of a kernel's values and control flow. The level of a value holds for the
// active items at its definition, in one iteration of every enclosing loop.
type Uniformity struct {
	scope    Scope
	values   []Level
	nodes    map[*Instr]*joinInfo
	readOnly bool // the kernel writes no global memory but scope.Apart
	gaveUp   bool

	divergences []Divergence
}

// Divergence is a group or subgroup operation in divergent control flow.
type Divergence struct {
	Instr *Instr
	Cause *Instr // the If whose condition is divergent; nil if not known
}

// joinInfo is the analysis state of a structured instruction. In each pair the first entry is for divergence between groups,
// the second for divergence within a group.
type joinInfo struct {
	depth     int
	merges    [2]bool // items may reach the end along different edges
	continues [2]bool // Loop: items may reach the next iteration along different edges
	splits    [2]bool // Loop: items may leave in different iterations
	apart     bool    // Loop: items may be divergent at the start of an iteration
	cause     *Instr
}

// A pass propagates facts forwards, and only loop-carried facts require another pass, so a few usually suffice. A kernel that
// takes more than minRounds passes and more than maxVisits operand visits is conservatively treated as varying.
const (
	minRounds = 16
	maxVisits = 1 << 24
)

// Uniformity analyses the kernel, which must satisfy all rules of [Module.Verify] except uniformity.
func (k *Kernel) Uniformity(scope Scope) *Uniformity {
	u := &Uniformity{scope: scope, values: make([]Level, k.NumValues()), nodes: map[*Instr]*joinInfo{}, readOnly: true}
	size := 1
	k.Body.Walk(func(in *Instr) {
		size += 1 + len(in.Args)
		for _, a := range in.Arrays {
			u.readOnly = u.readOnly && a.Space != Global
		}
		if (in.Op == Store || in.Op == Atomic && in.Atomic != AtomicLoad) && in.Array.Space == Global && in.Array != scope.Apart {
			u.readOnly = false
		}
	})
	for range max(minRounds, maxVisits/size) {
		w := uniformWalk{u: u, loops: make([]int, len(u.values))}
		w.block(k.Body)
		u.divergences = w.divergences
		if !w.changed {
			return u
		}
	}
	u.giveUp(k)
	return u
}

func (u *Uniformity) giveUp(k *Kernel) {
	u.gaveUp = true
	u.divergences = nil
	k.Body.Walk(func(in *Instr) {
		for _, r := range in.Results {
			u.values[r.ID] = Varying
		}
		if in.Op == Loop {
			for _, p := range in.Then.Params {
				u.values[p.ID] = Varying
			}
		}
		if in.Op.IsGroup() || in.Op == Subgroup {
			u.divergences = append(u.divergences, Divergence{Instr: in})
		}
	})
}

// Value returns the level of a value. A value that was created after the analysis is varying.
func (u *Uniformity) Value(v *Value) Level {
	if v.ID >= len(u.values) {
		return Varying // created after the analysis
	}
	return u.values[v.ID]
}

// Diverges reports whether items of a group may diverge in a structured instruction. They diverge if they take different
// branches of an If, or leave a Region from different places. They diverge in a Loop if they leave it in different iterations,
// or reach the next iteration from different places. Diverges also returns true for unreachable Regions and Loops, and if the
// kernel was too large to analyse.
func (u *Uniformity) Diverges(in *Instr) bool {
	if u.gaveUp {
		return true
	}
	n := u.nodes[in]
	switch {
	case in.Op == If:
		return u.Value(in.Args[0]) == Varying
	case n == nil:
		return true // unreachable
	case in.Op == Loop:
		return n.splits[1] || n.continues[1]
	}
	return n.merges[1]
}

// Together reports whether the items of a group are known to start each iteration of a Loop together. Group operations in its
// body require that. It returns false for an unreachable Loop, and if the kernel was too large to analyse.
func (u *Uniformity) Together(loop *Instr) bool {
	n := u.nodes[loop]
	return !u.gaveUp && n != nil && !n.apart
}

// Divergences returns the group and subgroup operations in divergent control flow, or all of them if the kernel was too large to
// analyse.
func (u *Uniformity) Divergences() []Divergence { return u.divergences }

// depthSet is a set of nesting depths.
type depthSet [(MaxDepth + 64) / 64]uint64

func (s *depthSet) add(d int)      { s[d/64] |= 1 << (d % 64) }
func (s *depthSet) remove(d int)   { s[d/64] &^= 1 << (d % 64) }
func (s *depthSet) has(d int) bool { return s[d/64]>>(d%64)&1 != 0 }

// from reports whether the set contains a depth of at least d.
func (s *depthSet) from(d int) bool {
	for i := d / 64; i < len(s); i++ {
		w := s[i]
		if i == d/64 {
			w &= ^uint64(0) << (d % 64)
		}
		if w != 0 {
			return true
		}
	}
	return false
}

// uniformWalk is one pass in program order. Its state contains the depths of constructs in which items may have diverged: split has
// those that split the items, and left those that some items have already left. The first set of each pair is for items of
// different groups, the second for items of one group.
type uniformWalk struct {
	u       *Uniformity
	changed bool     // a level or state changed, so another pass is needed
	around  []*Instr // enclosing structured instructions; the one at depth i+1 is around[i]
	split   [2]depthSet
	left    [2]depthSet
	causes  [MaxDepth + 1]*Instr // by depth: instruction that splits the items, or nil
	dead    bool                 // the code is unreachable
	loop    int                  // depth of the innermost loop, 0 for none
	loops   []int                // depth of the innermost loop around each value's definition

	edges       map[*Instr]*edgeInfo
	divergences []Divergence
}

// edgeInfo collects the values that reach a join in one pass.
type edgeInfo struct {
	out, next values
}

// values holds the operands of the edges to a join.
type values struct {
	edges int
	first []*Value
	one   []bool // every edge passes the same value, which is not recomputed in iterations of a loop that the edge leaves
	level []Level
}

// add records the values of an edge to the join at a depth.
func (v *values) add(w *uniformWalk, depth int, args []*Value) {
	if v.edges == 0 {
		v.first, v.one, v.level = args, make([]bool, len(args)), make([]Level, len(args))
		for i := range args {
			v.one[i] = true
		}
	}
	v.edges++
	for i, a := range args {
		v.one[i] = v.one[i] && a == v.first[i] && w.loops[a.ID] <= depth
		v.level[i] = max(v.level[i], w.u.values[a.ID])
	}
}

func (w *uniformWalk) raise(v *Value, to Level) {
	if w.u.values[v.ID] < to {
		w.u.values[v.ID] = to
		w.changed = true
	}
}

// apart reports whether items that entered the construct at a depth together may have diverged: items of different groups if i is
// 0, items of one group if it is 1.
func (w *uniformWalk) apart(i, depth int) bool {
	return w.split[i].from(depth+1) || w.left[i].from(depth)
}

// cause returns the innermost reason for divergence, or nil if all items are together.
func (w *uniformWalk) cause() *Instr {
	for d := len(w.around); d >= 0; d-- {
		if w.split[1].has(d) || w.left[1].has(d) {
			return w.causes[d]
		}
	}
	return nil
}

// unreached makes all values in unreachable code varying, since that code must verify, too.
func (w *uniformWalk) unreached(list []*Instr) {
	for _, in := range list {
		for _, r := range in.Results {
			w.raise(r, Varying)
		}
		for _, b := range []*Block{in.Then, in.Else} {
			if b == nil {
				continue
			}
			for _, p := range b.Params {
				w.raise(p, Varying)
			}
			w.unreached(b.Instrs)
		}
	}
}

func (w *uniformWalk) block(b *Block) {
	for i, in := range b.Instrs {
		if w.dead {
			w.unreached(b.Instrs[i:])
			return
		}
		switch in.Op {
		case Region, If, Loop:
			w.structured(in)
		case Yield:
			if n := len(w.around); n > 0 {
				w.edge(w.around[n-1], n, in.Args)
			}
			return
		case Break, Continue:
			w.jump(in)
			w.dead = true
		case Return, Unreachable:
			w.leave(0, nil)
			w.dead = true
		default:
			if (in.Op.IsGroup() || in.Op == Subgroup) && w.apart(1, 0) {
				w.divergences = append(w.divergences, Divergence{in, w.cause()})
			}
			for _, r := range in.Results {
				w.loops[r.ID] = w.loop
				w.raise(r, w.u.result(in))
			}
		}
	}
}

// result returns the level of an instruction's result from the levels of its operands.
func (u *Uniformity) result(in *Instr) Level {
	args := LaunchUniform
	for _, a := range in.Args {
		args = max(args, u.values[a.ID])
	}
	switch in.Op {
	case Item:
		switch in.Item {
		case GlobalSize, GroupSize, NumGroups, SubgroupSize:
			return LaunchUniform
		case GroupID:
			return GroupUniform
		case GlobalID, LocalID:
			if u.scope.UniformAxis[in.Axis] {
				return GroupUniform
			}
		}
		return Varying
	case Load:
		switch {
		case in.Array.Space == Table || in.Array.Space == Global && u.readOnly && in.Array != u.scope.Apart:
			return args
		case in.Array.Space != Private && u.scope.Lockstep:
			return max(args, GroupUniform)
		}
		return Varying
	case Atomic, Call, Scan, Subgroup, Clock:
		return Varying
	case Lib:
		if len(in.Arrays) > 0 {
			return Varying
		}
	case Reduce:
		return GroupUniform
	case Uniform:
		return min(args, GroupUniform)
	}
	return args
}

func (w *uniformWalk) node(in *Instr) *joinInfo {
	n := w.u.nodes[in]
	if n == nil {
		n = &joinInfo{depth: len(w.around)}
		w.u.nodes[in] = n
	}
	return n
}

func set(flag, changed *bool) {
	if !*flag {
		*flag, *changed = true, true
	}
}

func (w *uniformWalk) structured(in *Instr) {
	w.around = append(w.around, in)
	n := w.node(in)
	d := n.depth
	if w.edges == nil {
		w.edges = map[*Instr]*edgeInfo{}
	}
	e := &edgeInfo{}
	w.edges[in] = e
	merge := LaunchUniform // divergence of the choice of the edge to the end
	switch in.Op {
	case Region:
		w.block(in.Then)
	case If:
		merge = w.u.values[in.Args[0].ID]
		w.enter(d, [2]bool{merge >= GroupUniform, merge >= Varying}, in)
		w.block(in.Then)
		w.dead = false
		w.block(in.Else)
	case Loop:
		outer := w.loop
		w.loop = d
		for i, a := range in.Args {
			w.loops[in.Then.Params[i].ID] = d
			w.raise(in.Then.Params[i], w.u.values[a.ID])
		}
		w.enter(d, n.splits, n.cause)
		n.apart = w.apart(1, 0)
		w.block(in.Then)
		w.carry(in, n, &e.next)
		w.loop = outer
	}
	delete(w.edges, in)
	for i := range 2 {
		w.split[i].remove(d)
		w.left[i].remove(d)
		if n.merges[i] || n.splits[i] {
			merge = max(merge, GroupUniform+Level(i))
		}
	}
	w.around = w.around[:d-1]
	w.dead = e.out.edges == 0
	if w.dead {
		for _, r := range in.Results {
			w.raise(r, Varying)
		}
		return
	}
	for i, r := range in.Results {
		level := e.out.level[i]
		if !e.out.one[i] || in.Op == Loop {
			level = max(level, merge)
		}
		w.loops[r.ID] = w.loop
		w.raise(r, level)
	}
}

// enter starts the walk inside the construct at a depth. splits tells whether the construct splits the items of different groups,
// and those of one group, and cause is the instruction that does.
func (w *uniformWalk) enter(depth int, splits [2]bool, cause *Instr) {
	for i, s := range splits {
		if s {
			w.split[i].add(depth)
		}
	}
	w.causes[depth] = cause
}

// carry lowers the uniformity of a loop's parameters to that of the operands of continue. A parameter with different operands
// is also no more uniform than the choice between the continues.
func (w *uniformWalk) carry(in *Instr, n *joinInfo, next *values) {
	for i, p := range in.Then.Params {
		if next.edges == 0 {
			return
		}
		level := next.level[i]
		if !next.one[i] {
			for j, c := range n.continues {
				if c {
					level = max(level, GroupUniform+Level(j))
				}
			}
		}
		w.raise(p, level)
	}
}

// edge records values passed to the end of a construct at a depth.
func (w *uniformWalk) edge(to *Instr, depth int, args []*Value) { w.edges[to].out.add(w, depth, args) }

func (w *uniformWalk) jump(in *Instr) {
	t := in.Target
	n := w.u.nodes[t]
	if in.Op == Break {
		w.edge(t, n.depth, in.Args)
		w.leave(n.depth, n)
		return
	}
	w.edges[t].next.add(w, n.depth, in.Args)
	w.leaveLoops(n.depth + 1)
	for i := range 2 {
		if w.apart(i, n.depth) {
			set(&n.continues[i], &w.changed)
			w.markLeft(i, n.depth)
		}
	}
}

// leave handles a jump to the end of the construct at a depth, described by n. With depth 0 and nil for n the jump is to the
// end of the kernel.
func (w *uniformWalk) leave(depth int, n *joinInfo) {
	w.leaveLoops(depth)
	for i := range 2 {
		if w.apart(i, depth) {
			if n != nil {
				set(&n.merges[i], &w.changed)
			}
			w.markLeft(i, depth)
		}
	}
}

// markLeft records that some items have jumped to the end of the construct at a depth, or to its next iteration. i is as in apart.
func (w *uniformWalk) markLeft(i, depth int) {
	if i == 1 && !w.left[i].has(depth) && !w.split[i].has(depth) {
		w.causes[depth] = w.cause()
	}
	w.left[i].add(depth)
}

// leaveLoops records that a jump leaves the enclosing loops from a depth inwards, and that diverged items leave them in different
// iterations.
func (w *uniformWalk) leaveLoops(depth int) {
	if !w.apart(0, 0) {
		return
	}
	for d := len(w.around); d >= max(depth, 1); d-- {
		in := w.around[d-1]
		if in.Op != Loop {
			continue
		}
		n := w.u.nodes[in]
		for i := range 2 {
			if !n.splits[i] && w.apart(i, d) {
				set(&n.splits[i], &w.changed)
				if i == 1 || n.cause == nil {
					n.cause = w.cause()
				}
			}
		}
	}
}
