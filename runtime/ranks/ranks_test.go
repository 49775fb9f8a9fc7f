package ranks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// pipes are the links of processes in one process.
type pipes struct {
	rank int
	all  []*pipes

	mu      sync.Mutex
	accept  func(int, io.ReadCloser)
	left    func(int, error)
	early   []func()
	writers []io.Closer

	expected atomic.Int64 // messages that the process waits for
}

func (p *pipes) Rank() int { return p.rank }
func (p *pipes) Size() int { return len(p.all) }

func (p *pipes) Expect(by int) { p.expected.Add(int64(by)) }

func (p *pipes) Dial(rank int) (io.WriteCloser, error) {
	r, w := io.Pipe()
	p.mu.Lock()
	p.writers = append(p.writers, w)
	p.mu.Unlock()
	p.all[rank].serving(func() { p.all[rank].accept(p.rank, r) })
	return w, nil
}

func (p *pipes) serving(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.accept == nil {
		p.early = append(p.early, do)
		return
	}
	do()
}

func (p *pipes) Serve(accept func(int, io.ReadCloser), left func(int, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accept, p.left = accept, left
	for _, do := range p.early {
		do()
	}
}

// end ends a process: its streams, then it.
func (p *pipes) end(why error) {
	p.mu.Lock()
	writers := p.writers
	p.mu.Unlock()
	for _, w := range writers {
		_ = w.Close()
	}
	for _, other := range p.all {
		if other != p {
			other.serving(func() { other.left(p.rank, why) })
		}
	}
}

// job runs a function as n processes, and returns its errors.
func job(t *testing.T, n int, run func(ctx context.Context, g *Group) error) []error {
	t.Helper()
	all := make([]*pipes, n)
	for i := range all {
		all[i] = &pipes{rank: i, all: all}
	}
	errs := make([]error, n)
	var running sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i, p := range all {
		running.Go(func() {
			g, release, err := NewWorld(p).Claim()
			if err == nil {
				defer release()
				err = run(ctx, g)
			}
			errs[i] = err
			var crash *crash
			if errors.As(err, &crash) {
				p.end(err)
			} else {
				p.end(nil)
			}
		})
	}
	running.Wait()
	for i, p := range all {
		if n := p.expected.Load(); n != 0 {
			t.Errorf("rank %d of %d waits for %d messages at the end", i, n, len(all))
		}
	}
	return errs
}

// crash is the end of a process without a farewell.
type crash struct{}

func (*crash) Error() string { return "it crashed" }

func payload(t offload.Type, data []byte) *Payload {
	p, set := NewPayload(t, len(data)/t.Size())
	set(data, nil)
	return p
}

// known holds the results of values.
var known sync.Map

// values returns the data of a member: floats whose sums depend on the order.
func values(rank, n int) []float32 {
	if list, ok := known.Load([2]int{rank, n}); ok {
		return list.([]float32)
	}
	r := rand.New(rand.NewPCG(uint64(rank), uint64(n)))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(math.Exp(r.Float64()*40 - 20))
	}
	known.Store([2]int{rank, n}, list)
	return list
}

func bits(list []float32) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		x := math.Float32bits(v)
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

// sums returns the sums of the members up to one, in order.
func sums(ranks, n int) []float32 {
	list := slices.Clone(values(0, n))
	for r := 1; r <= ranks; r++ {
		for i, v := range values(r, n) {
			list[i] += v
		}
	}
	return list
}

func all(ranks, n int) (data []byte) {
	for r := range ranks {
		data = append(data, bits(values(r, n))...)
	}
	return data
}

// TestCollective compares all operations with their definitions, for groups of many sizes and data of many lengths.
func TestCollective(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 7, 8, directRanks, directRanks + 3} {
		for _, n := range []int{0, 1, size, 5 * size, wholeBytes/4 + size} {
			if size > 8 && n > 100 && testing.Short() {
				continue
			}
			errs := job(t, size, func(ctx context.Context, g *Group) error {
				mine, root := bits(values(g.Rank(), n)), size/2
				p := func() *Payload { return payload(offload.F32, slices.Clone(mine)) }
				sum, upTo := bits(sums(size-1, n)), bits(sums(g.Rank(), n))
				atRoot := func(b []byte) []byte {
					if g.Rank() == root {
						return b
					}
					return nil
				}
				type test struct {
					name string
					run  Operation
					want []byte
				}
				tests := []test{
					{"barrier", g.Barrier(), nil},
					{"allReduce", g.AllReduce(p(), Sum), sum},
					{"reduce", g.Reduce(root, p(), Sum), atRoot(sum)},
					{"scan", g.Scan(p(), Sum), upTo},
					{"gather", g.Gather(root, p()), atRoot(all(size, n))},
					{"allGather", g.AllGather(p()), all(size, n)},
				}
				whole := all(size, n)
				if n%size == 0 {
					part := n / size * 4
					var want []byte
					for r := range size {
						want = append(want, bits(values(r, n))[g.Rank()*part:(g.Rank()+1)*part]...)
					}
					tests = append(tests, test{"allToAll", g.AllToAll(p()), want})
				}
				scattered, set := NewPayload(offload.F32, n*size)
				if g.Rank() == root {
					set(whole, nil)
				} else {
					set(nil, nil)
				}
				scattering := g.Scatter(root, scattered)
				tests = append(tests, test{"scatter", func(ctx context.Context) ([]byte, error) {
					d, err := scattering(ctx)
					return d.Bytes, err
				}, mine})
				ended := make(chan error, len(tests))
				for _, i := range rand.Perm(len(tests)) { // all at once, on each rank in another order
					go func() {
						got, err := tests[i].run(ctx)
						if err == nil && !bytes.Equal(got, tests[i].want) {
							err = errors.New("the results differ")
						}
						if err != nil {
							err = fmt.Errorf("%s: %d bytes, want %d: %w", tests[i].name, len(got), len(tests[i].want), err)
						}
						ended <- err
					}()
				}
				for range tests {
					if err := <-ended; err != nil {
						return err
					}
				}
				source := nothing()
				if g.Rank() == root {
					source = p()
				}
				got, err := g.Broadcast(root, source)(ctx)
				if want := bits(values(root, n)); err != nil || got.Type != offload.F32 && n > 0 || !bytes.Equal(got.Bytes, want) {
					return fmt.Errorf("broadcast: %d bytes of %v, want %d: %v", len(got.Bytes), got.Type, len(want), err)
				}
				return g.checkSplit(ctx)
			})
			for rank, err := range errs {
				if err != nil {
					t.Errorf("%d elements, rank %d of %d: %v", n, rank, size, err)
				}
			}
		}
	}
}

// checkSplit splits the group twice at once: into odd and even members in reverse, and without the first.
func (g *Group) checkSplit(ctx context.Context) error {
	odd, rest := g.Split(int64(g.rank%2), -int64(g.rank)), g.Split(int64(min(g.rank, 1)-1), 0)
	others, err := rest(ctx)
	if err != nil {
		return err
	}
	if others == nil != (g.rank == 0) || others != nil && (others.Rank() != g.rank-1 || others.Size() != g.Size()-1) {
		return fmt.Errorf("without the first, the group is %+v", others)
	}
	part, err := odd(ctx)
	if err != nil {
		return err
	}
	got, err := part.AllGather(payload(offload.U8, []byte{byte(g.rank)}))(ctx)
	var want []byte
	for r := g.Size() - 1; r >= 0; r-- {
		if r%2 == g.rank%2 {
			want = append(want, byte(r))
		}
	}
	if err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("the part has %v, want %v: %v", got, want, err)
	}
	if others != nil {
		if got, err = others.AllReduce(payload(offload.I8, []byte{100}), Max)(ctx); err != nil || !bytes.Equal(got, []byte{100}) {
			return fmt.Errorf("%v: %v", got, err)
		}
	}
	return nil
}

// TestMessages sends messages with tags, early, late and to itself.
func TestMessages(t *testing.T) {
	for rank, err := range job(t, 3, func(ctx context.Context, g *Group) error {
		const count = 50
		for i := range count {
			for to := range g.Size() {
				p, set := NewPayload(offload.U8, 2)
				g.Send(to, uint64(i%2), p)
				go set([]byte{byte(g.Rank()), byte(i)}, nil)
			}
		}
		for _, tag := range []uint64{1, 0} {
			for i := int(tag); i < count; i += 2 {
				for from := range g.Size() {
					d, err := g.Receive(from, tag).Data(ctx)
					if want := []byte{byte(from), byte(i)}; err != nil || !bytes.Equal(d.Bytes, want) || d.Type != offload.U8 {
						return fmt.Errorf("%v, want %v: %v", d.Bytes, want, err)
					}
				}
			}
		}
		short, stop := context.WithTimeout(ctx, time.Millisecond)
		defer stop()
		if _, err := g.Receive(0, 9).Data(short); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("without a message: %v", err)
		}
		p, set := NewPayload(offload.U8, 1)
		set(nil, errors.New("no memory"))
		to := (g.Rank() + 1) % g.Size()
		if err := <-g.Send(to, 3, p); err == nil {
			return errors.New("a message without data was sent")
		}
		if _, err := g.Receive((g.Rank()+2)%g.Size(), 3).Data(ctx); err == nil || !strings.Contains(err.Error(), "could not send: no memory") {
			return fmt.Errorf("the failure of a message is %v", err)
		}
		_, err := g.Barrier()(ctx)
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestMismatch calls operations that differ. Every rank gets an error that names two of them.
func TestMismatch(t *testing.T) {
	ones := func(t offload.Type, n int) *Payload { return payload(t, make([]byte, n*t.Size())) }
	for name, c := range map[string]struct {
		code offload.Code
		text string
		of   func(g *Group, odd bool) Operation
	}{
		"length": {offload.InvalidSize, "elements", func(g *Group, odd bool) Operation {
			if odd {
				return g.AllReduce(ones(offload.I32, 3), Sum)
			}
			return g.AllReduce(ones(offload.I32, 4), Sum)
		}},
		"type": {offload.InvalidArgument, "elements of", func(g *Group, odd bool) Operation {
			if odd {
				return g.AllGather(ones(offload.F32, 2))
			}
			return g.AllGather(ones(offload.I32, 2))
		}},
		"operation": {offload.InvalidArgument, "calls", func(g *Group, odd bool) Operation {
			if odd {
				return g.AllGather(ones(offload.F32, 2))
			}
			return g.AllReduce(ones(offload.F32, 2), Max)
		}},
		"reduction": {offload.InvalidArgument, "combines by", func(g *Group, odd bool) Operation {
			if odd {
				return g.AllReduce(ones(offload.F32, 2), Max)
			}
			return g.AllReduce(ones(offload.F32, 2), Min)
		}},
		"reduction of parts": {offload.InvalidArgument, "combines by", func(g *Group, odd bool) Operation {
			if odd {
				return g.AllReduce(ones(offload.F32, wholeBytes), Max)
			}
			return g.AllReduce(ones(offload.F32, wholeBytes), Sum)
		}},
		// No rank sends what another one waits for.
		"roots of gather": {offload.InvalidArgument, "names the root", func(g *Group, odd bool) Operation {
			root := 0
			if odd {
				root = 1
			}
			run := g.Gather(root, ones(offload.I32, 2))
			if g.Rank() == 2 { // it only sends, and ends in time or not
				return func(ctx context.Context) ([]byte, error) {
					_, _ = run(ctx)
					return nil, offload.Errorf(offload.InvalidArgument, "gather", "names the root")
				}
			}
			return run
		}},
		"roots of reduce": {offload.InvalidArgument, "names the root", func(g *Group, odd bool) Operation {
			return g.Reduce(g.Rank(), ones(offload.I32, 2), Sum)
		}},
		"roots of broadcast": {offload.InvalidArgument, "names the root", func(g *Group, odd bool) Operation {
			run := g.Broadcast((g.Rank()+1)%g.Size(), ones(offload.I32, 2))
			return func(ctx context.Context) ([]byte, error) {
				d, err := run(ctx)
				return d.Bytes, err
			}
		}},
		"scatter": {offload.InvalidArgument, "calls", func(g *Group, odd bool) Operation {
			if g.Rank() == 2 {
				return g.Gather(2, ones(offload.I32, 3))
			}
			run := g.Scatter(2, ones(offload.I32, 3))
			return func(ctx context.Context) ([]byte, error) {
				d, err := run(ctx)
				return d.Bytes, err
			}
		}},
		// Only one rank receives from a rank whose operation differs. The barrier waits for a rank that waits for it.
		"barrier": {offload.InvalidArgument, "calls", func(g *Group, odd bool) Operation {
			if g.Rank() == 0 {
				return g.Barrier()
			}
			run := g.Broadcast(0, nothing())
			return func(ctx context.Context) ([]byte, error) {
				d, err := run(ctx)
				return d.Bytes, err
			}
		}},
	} {
		for rank, err := range job(t, 3, func(ctx context.Context, g *Group) error {
			_, err := c.of(g, g.Rank() == 1)(ctx)
			if !strings.Contains(fmt.Sprint(err), c.text) {
				return fmt.Errorf("the error is %w", err)
			}
			if strings.Count(err.Error(), "failed at") > 1 {
				return fmt.Errorf("a rank repeats what another one has told: %w", err)
			}
			if code := offload.CodeOf(err); code != c.code && code != offload.Cancelled {
				return fmt.Errorf("the code is %s: %w", code, err)
			}
			_, err = g.Barrier()(ctx) // the ranks go on
			return err
		}) {
			if err != nil {
				t.Errorf("%s, rank %d: %v", name, rank, err)
			}
		}
	}
}

// TestLateMismatch broadcasts from two roots, neither of which receives. The next operation fails at both, unless one root has the message
// of the other in time: then its broadcast fails, and its script ends.
func TestLateMismatch(t *testing.T) {
	var inTime atomic.Bool
	for rank, err := range job(t, 2, func(ctx context.Context, g *Group) error {
		d, err := g.Broadcast(g.Rank(), payload(offload.I32, make([]byte, 8)))(ctx)
		if err != nil || len(d.Bytes) != 8 {
			if !strings.Contains(fmt.Sprint(err), "names the root") {
				return err
			}
			inTime.Store(true)
			return nil
		}
		for {
			g.w.mu.Lock()
			failed := len(g.w.failures) > 0
			g.w.mu.Unlock()
			if failed {
				break
			}
			time.Sleep(time.Millisecond)
		}
		_, err = g.Barrier()(ctx)
		if !strings.Contains(fmt.Sprint(err), "earlier operation differed") && !(inTime.Load() && offload.CodeOf(err) == offload.Closed) {
			return fmt.Errorf("the barrier: %w", err)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestEnd ends one of four processes, in order or by a crash. Others get what it sent before, and then an error that names it.
func TestEnd(t *testing.T) {
	for _, how := range []error{nil, &crash{}} {
		code := offload.Closed
		if how != nil {
			code = offload.DeviceLost
		}
		for rank, err := range job(t, 4, func(ctx context.Context, g *Group) error {
			if g.Rank() == 2 {
				for to := range 4 {
					if err := <-g.Send(to, 0, payload(offload.U8, []byte{7})); err != nil {
						return err
					}
				}
				return how
			}
			if d, err := g.Receive(2, 0).Data(ctx); err != nil && how == nil || err == nil && !bytes.Equal(d.Bytes, []byte{7}) {
				return fmt.Errorf("%v: %v", d, err)
			}
			_, err := g.AllReduce(payload(offload.I32, make([]byte, 1<<20)), Sum)(ctx)
			if code := offload.CodeOf(err); code != offload.DeviceLost && (how != nil || code != offload.Closed) {
				return fmt.Errorf("after the end: %w", err)
			}
			if _, err = g.Barrier()(ctx); offload.CodeOf(err) != code || !strings.Contains(err.Error(), "rank 2") { // only one rank waits for it first
				return fmt.Errorf("after the end: %w", err)
			}
			if _, err = g.Receive(2, 1).Data(ctx); offload.CodeOf(err) != code || !strings.Contains(err.Error(), "rank 2") {
				return fmt.Errorf("after the end: %w", err)
			}
			return nil
		}) {
			if err != nil && rank != 2 {
				t.Errorf("%v, rank %d: %v", how, rank, err)
			}
		}
	}
}

// TestReduction compares reductions of all types with exact arithmetic.
func TestReduction(t *testing.T) {
	check := func(name string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	fold := func(r Reduction, ty offload.Type, a, b []byte) []byte {
		result := make([]byte, len(a))
		r.fold(ty, result, [][]byte{a, b})
		return result
	}
	check("i8 wraps", int8(fold(Sum, offload.I8, []byte{127}, []byte{1})[0]), -128)
	check("u8 wraps", fold(Product, offload.U8, []byte{16}, []byte{17}), []byte{16})
	check("i16", fold(Min, offload.I16, []byte{1, 0}, []byte{255, 255}), []byte{255, 255})
	check("u16", fold(Min, offload.U16, []byte{1, 0}, []byte{255, 255}), []byte{1, 0})
	nan, zero := bits([]float32{float32(math.NaN()), 0}), bits([]float32{1, float32(math.Copysign(0, -1))})
	if got := elements[float32](fold(Min, offload.F32, nan, zero)); got[0] == got[0] || !math.Signbit(float64(got[1])) {
		t.Errorf("the minimum is %v", got)
	}
	if got := elements[float32](fold(Max, offload.F32, zero, nan)); got[0] == got[0] || math.Signbit(float64(got[1])) {
		t.Errorf("the maximum is %v", got)
	}
	for _, ty := range []offload.Type{offload.Opaque, offload.Bool, offload.F16, offload.BF16} {
		if Reduces(ty) {
			t.Errorf("%v is reduced", ty)
		}
	}
}

// TestAlone uses the operations in a process alone, by one script at a time.
func TestAlone(t *testing.T) {
	w := NewWorld(nil)
	g, release, err := w.Claim()
	if err != nil || g.Size() != 1 || g.Rank() != 0 {
		t.Fatal(g, err)
	}
	if _, _, err := w.Claim(); offload.CodeOf(err) != offload.InvalidArgument {
		t.Errorf("a second script: %v", err)
	}
	g.Send(0, 5, payload(offload.U8, []byte{1}))
	if d, err := g.Receive(0, 5).Data(t.Context()); err != nil || d.Bytes[0] != 1 {
		t.Error(d, err)
	}
	if got, err := g.AllReduce(payload(offload.F32, bits([]float32{2})), Product)(t.Context()); err != nil || !bytes.Equal(got, bits([]float32{2})) {
		t.Error(got, err)
	}
	release()
	if _, release, err = w.Claim(); err != nil {
		t.Error(err)
	}
	release()
}
