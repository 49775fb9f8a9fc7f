package spmd

import (
	"math"
	"math/bits"
	"slices"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Stores of whole vectors to buffers are made in one of three ways, by how much memory a launch uses and by the processor's
// cost table.
//
// What stays in the caches is stored as it is. What does not is stored in halves of cache lines on Xeons, which take up to
// 1.4 times as long for whole lines that they have to fetch first, and what such a launch loads in rows is fetched ahead,
// see prefetchRow. Vectors of AVX2 are such halves. Lines that have been fetched, see fetchStored, are stored as wholes.
// What is only written goes past the caches on processors of AMD if a launch uses more memory than they hold: no line need
// be fetched then. Less than that stays in the last cache, which takes three times as much in the same time.

// outputs says which buffers a kernel stores to, by array ID.
type outputs struct {
	written  []bool
	streamed []bool // those that can be written past the caches
	several  []bool // those where an item may store to many places, in a loop
}

// findOutputs looks for the stores of a kernel. A buffer is streamed if it is never read and no item stores to it again
// and again. Kernels with atomic operations on buffers may tell other work-groups by them that they have written: stores
// past the caches would come too late.
func findOutputs(k *ir.Kernel) outputs {
	n := len(k.Arrays)
	o := outputs{make([]bool, n), make([]bool, n), make([]bool, n)}
	read := make([]bool, n)
	atomics := false
	changing := make([]bool, k.NumValues()) // values that may differ from iteration to iteration
	changes := func(v *ir.Value) bool { return changing[v.ID] }
	var walk func(b *ir.Block, inLoop bool)
	walk = func(b *ir.Block, inLoop bool) {
		if b == nil {
			return
		}
		for _, in := range b.Instrs {
			if in.Array != nil && in.Array.Space == ir.Global {
				switch in.Op {
				case ir.Store:
					id := in.Array.ID
					o.written[id] = true
					read[id] = read[id] || inLoop
					o.several[id] = o.several[id] || slices.ContainsFunc(in.Args[:in.NumIndices()], changes)
				case ir.Atomic:
					atomics = true
				case ir.Load:
					read[in.Array.ID] = true
				}
			}
			if in.Op == ir.Loop {
				for _, v := range in.Then.Params {
					changing[v.ID] = true
				}
			}
			walk(in.Then, inLoop || in.Op == ir.Loop)
			walk(in.Else, inLoop)
			for _, v := range in.Results {
				changing[v.ID] = inLoop && (!in.IsPure() || slices.ContainsFunc(in.Args, changes))
			}
		}
	}
	walk(k.Body, false)
	for id := range read {
		o.streamed[id] = o.written[id] && !read[id] && !atomics
	}
	return o
}

// defaultCache is the size of the last cache where it is not known.
const defaultCache = 32 << 20

// storeKind chooses how a launch stores.
func (p *Program) storeKind(g *interp.Launch) int {
	items := g.Size[0] * g.Size[1] * g.Size[2]
	used, written, streamed := 0, 0, 0
	for i := range p.kernel.Params {
		a := p.kernel.Params[i].Array
		if a == nil {
			continue
		}
		n := g.Args[i].Bytes / max(a.Elem.Size(), 1)
		if p.outputs.written[a.ID] && !p.outputs.several[a.ID] {
			n = min(n, items)
		}
		n *= a.Elem.Size()
		used += n
		if p.outputs.written[a.ID] {
			written += n
		}
		if p.outputs.streamed[a.ID] {
			streamed += n
		}
	}
	cache := p.options.CacheBytes
	if cache <= 0 {
		cache = defaultCache
	}
	m := p.options.Model
	past := m.PastCache
	if p.options.Cores == 1 && m.PastCacheAlone > 0 {
		past = m.PastCacheAlone
	}
	switch {
	case past > 0 && streamed >= max(cache/leastStreamed, 1) && float64(used) >= past*float64(cache):
		return kindPast
	case written > 0 && written >= cache/8:
		return kindHalves
	}
	return 0
}

// leastStreamed is the part of the last cache as which outputs count that are worth to be stored past it.
const leastStreamed = 4

// lineBytes is the size of a line of the caches.
const lineBytes = 64

// past reports whether stores to a buffer go past the caches, if they can.
func (l *analysis) past(a *ir.Array) bool {
	return l.options.stores == kindPast && l.outputs.streamed[a.ID]
}

// wholeRows stores vectors one after the other in halves of lines or past the caches, and reports whether it did.
func (l *lowerer) wholeRows(p *place, src []vcode.Reg, n int) bool {
	if l.options.stores == 0 || p.fetched || p.array == nil || p.array.Space != ir.Global || p.size < 4 {
		return false
	}
	past := l.past(p.array)
	switch {
	case !past && (l.Target.Bytes() != lineBytes || !l.options.Model.HalfLines):
		return false
	case past && p.below != 0:
		return false // each row would have to lie well
	case p.mask != nil && !l.Target.HasMasks:
		return false // to find out that all lanes take part costs too much
	}
	plain, done := l.NewLabel(), l.NewLabel()
	asked := false
	for _, m := range p.mask {
		l.Use(amd64.KORTESTW, m.K(), m.K())
		l.Jump(amd64.JAE, plain) // the carry says that all bits are set
		asked = true
	}
	to := *p
	if past {
		first := l.NewGPR()
		l.Def(amd64.LEA, first.G8(), to.uni.At())
		l.Use(amd64.TEST, first.G4(), vcode.Imm(lineBytes/2-1))
		l.Jump(amd64.JNE, plain)
		to.uni = vcode.Mem{Base: first}
		asked = true
	}
	for i, lo := range l.registersOf(&to, n) {
		s := vcode.Part(src, i)
		hi := lo
		hi.Disp += lineBytes / 2
		switch {
		case past && l.Target.HasMasks:
			h := l.NewVec()
			l.Def(amd64.VEXTRACTI64X4, h.Y(), s.Z(), vcode.Imm(1))
			l.Use(amd64.VMOVNTPS, lo.At(), s.Y())
			l.Use(amd64.VMOVNTPS, hi.At(), h.Y())
		case past:
			l.Use(amd64.VMOVNTPS, lo.At(), s.Z())
		default:
			l.Use(amd64.VMOVUPS, lo.At(), s.Y())
			hi.Size = 32
			l.Use(amd64.VEXTRACTI64X4, hi.At(), s.Z(), vcode.Imm(1))
		}
	}
	l.Bind(done)
	if asked {
		l.Cold(func() {
			l.Bind(plain)
			l.storeRows(p, src, n)
			l.Jump(amd64.JMP, done)
		})
	}
	return true
}

// prefetchAhead is how many bytes ahead of its loads a launch that writes much has its lines fetched. Processors stop at
// the end of each page.
const prefetchAhead = 2048

// groupRow is how many bytes of a row make a gang that is a whole group fetch the row of the next group. Reductions load the
// halves of lines in the order of their tree, which few processors foresee.
const groupRow = 512

// prefetchRow fetches the lines that later gangs load, where the present one loads n bytes.
func (l *lowerer) prefetchRow(p *place, n int) {
	group := l.options.single && n >= groupRow && l.Target.Bytes() < lineBytes && l.options.Model.Misses >= manyMisses
	if (l.options.stores == 0 || !l.options.Model.FetchAhead) && l.band == 0 && !group || p.array.Space != ir.Global || l.w < l.options.Gang {
		return
	}
	ahead := prefetchAhead
	if l.band > 0 || group {
		ahead = n // the next column, or group
	}
	for at0 := 0; at0 < n; at0 += lineBytes {
		m := p.uni
		m.Disp += int32(ahead + at0)
		m.Size = 1
		l.Use(amd64.PREFETCHT0, m.At())
	}
}

// What a loop loads row by row at a distance that no processor foresees is fetched some iterations ahead.
const (
	strideFrom      = 256 // bytes from one iteration to the next
	iterationsAhead = 16
	rowsAhead       = 8  // where iterations go from row to row: most of them do much with each
	roundsAhead     = 2  // where the loop is run in rounds
	manyMisses      = 20 // loads that a core has under way which gains by fetching ahead what a long round loads
	opsPerLine      = 6  // with fewer instructions for each, a processor sees enough lines ahead by itself
	opsOfLoop       = 6  // instructions that come with each iteration
)

// prefetchLoop fetches what a load of n bytes in a row will load in later iterations of the loop around it. A gang that does
// many iterations in a round has as many loads under way as a core can have.
func (l *lowerer) prefetchLoop(in *ir.Instr, p *place, n int) {
	loop := l.uses[in.Result().ID].loop
	if loop == nil || p.array.Space != ir.Global || l.w < l.options.Gang || l.round != nil && !l.fetchesRounds(l.round) {
		return
	}
	r := in.Resolve()
	step, ahead := int64(0), int64(iterationsAhead)
	if l.round != nil {
		ahead = roundsAhead
	}
	times := int64(max(l.times[loop], 1))
	ahead = max(ahead/times, 1)
	var rows part64 // by how many rows an iteration goes on
	for i := range r.Strides {
		s, ok := l.step(in.Args[i], loop, 0)
		if !ok || s != 0 && r.Inner[i] > 0 && (rows.stride != 0 || l.round != nil) {
			l.prefetchRound(in, p, n)
			return
		}
		if s *= int64(r.Strides[i]); s != 0 && r.Inner[i] > 0 {
			rows = part64{r: l.pitch(p.array, r.Inner[i]), stride: s}
		} else {
			step += s
		}
	}
	if max(step, -step) > math.MaxInt32/2/iterationsAhead || rows.stride == 0 && max(step, -step) < strideFrom {
		return
	}
	if rows.stride != 0 {
		if (l.operations(loop)+opsOfLoop)*lineBytes >= opsPerLine*n*int(times) {
			l.prefetchRows(p, rows, step, max(rowsAhead/times, 1), n)
		}
		return
	}
	m := p.uni
	m.Disp += int32(step * ahead)
	l.prefetchLines(m, n)
}

// fetchesRounds reports whether gangs fetch ahead what they load in later rounds. With one row in long rounds they have as
// many loads under way as a core can have, with more a core that can have many has some left.
func (l *lowerer) fetchesRounds(r *rounds) bool {
	return r.turns < manyTurns || r.rows > 1 && l.options.Model.Misses >= manyMisses
}

// operations is about how many instructions an iteration of a loop takes.
func (l *analysis) operations(loop *ir.Instr) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Const, in.Op == ir.Yield, in.Op == ir.Break, in.Op == ir.Continue:
		case len(in.Results) == 1 && !l.uniform(in.Results[0]):
			n += l.w
		default:
			n++
		}
	})
	return n
}

// prefetchRows fetches what a load of n bytes in a row will load in later iterations, each of which goes on by rows, of
// an extent that is known only when the code runs, and a step in them.
func (l *lowerer) prefetchRows(p *place, rows part64, step, iterations int64, n int) {
	if far := rows.stride * iterations; int64(int32(far)) == far {
		first, ahead := l.NewGPR(), l.NewGPR()
		l.Def(amd64.LEA, first.G8(), p.uni.At())
		l.Def(amd64.IMUL, ahead.G8(), rows.r.G8(), vcode.Imm(far))
		p.uni = vcode.Mem{Base: first}
		l.prefetchLines(vcode.Mem{Base: first, Index: ahead, IndexSize: 8, Scale: 1, Disp: int32(step * iterations)}, n)
	}
}

// prefetchLines fetches the lines of n bytes.
func (l *lowerer) prefetchLines(m vcode.Mem, n int) {
	m.Size = 1
	for end := m.Disp + int32(n); m.Disp < end; m.Disp += lineBytes {
		l.Use(amd64.PREFETCHT0, m.At())
	}
}

// prefetchRound fetches what a load of n bytes in a row will load in later rounds, if its index grows by what is known
// only when the code runs.
func (l *lowerer) prefetchRound(in *ir.Instr, p *place, n int) {
	if l.round == nil || in.NumIndices() != 1 || p.size < 4 {
		return
	}
	i := slices.Index(l.round.loop.Then.Params, in.Args[0])
	if i < 0 {
		return
	}
	next := l.round.loop.Then.Terminator().Args[i].Def
	if next == nil || next.Op != ir.Add || next.Args[0] != in.Args[0] || !l.uniform(next.Args[1]) {
		return
	}
	first, step := l.NewGPR(), l.wideIndex(l.general(next.Args[1]), ir.I32)
	l.Def(amd64.LEA, first.G8(), p.uni.At())
	// Two rounds ahead, or one: scale 8 stands for two iterations.
	if shift := bits.Len(uint(l.round.turns)) - 2; shift > 0 {
		far := l.NewGPR()
		l.Def(amd64.MOV, far.G8(), step.G8())
		l.Mod(amd64.SHL, far.G8(), vcode.Imm(int64(shift)))
		step = far
	}
	l.prefetchLines(vcode.Mem{Base: first, Index: step, IndexSize: 8, Scale: 8}, n)
}

// step is by how much a value grows from one iteration of a loop to the next, if that is known.
func (l *analysis) step(v *ir.Value, loop *ir.Instr, depth int) (int64, bool) {
	if i := slices.Index(loop.Then.Params, v); i >= 0 {
		next := l.carriedBy(loop, i)
		if next == nil || next.Def == nil || next.Def.Op != ir.Add && next.Def.Op != ir.Sub || next.Def.Args[0] != v {
			return 0, false
		}
		c, ok := smallConst(next.Def.Args[1])
		if next.Def.Op == ir.Sub {
			c = -c
		}
		return c, ok
	}
	in := v.Def
	if in == nil || l.uses[v.ID].loop != loop {
		return 0, true // of before the loop
	}
	if depth > maxShadow || len(in.Args) == 0 {
		return 0, false
	}
	a, ok := l.step(in.Args[0], loop, depth+1)
	if !ok {
		return 0, false
	}
	switch in.Op {
	case ir.Add, ir.Sub:
		b, ok := l.step(in.Args[1], loop, depth+1)
		if in.Op == ir.Sub {
			b = -b
		}
		return a + b, ok
	case ir.Mul:
		c, ok := smallConst(in.Args[1])
		return a * c, ok
	case ir.Shl:
		c, ok := smallConst(in.Args[1])
		return a << (c & 31), ok
	case ir.Wrap, ir.Bitcast:
		return a, in.Args[0].Type.Size() == 4
	}
	return 0, false
}

// carriedBy is the value that a loop's parameter has in the next iteration, if there is only one continue.
func (l *analysis) carriedBy(loop *ir.Instr, param int) *ir.Value {
	var next *ir.Value
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Continue && in.Target == loop {
			next = in.Args[param]
			n++
		}
	})
	if n != 1 {
		return nil
	}
	return next
}
