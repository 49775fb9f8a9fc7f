package joint

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestParts delivers the bytes of two parts in random pieces, before and after their destinations are known or awaited, copied and landed.
func TestParts(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := NewHall()
		parts := []Part{{0, 0}, {2, 1}}
		want, got, at := [2][]byte{}, [2][]byte{}, [2]int64{}
		for i := range want {
			want[i], got[i] = make([]byte, 1+r.IntN(50)), nil
			for j := range want[i] {
				want[i][j] = byte(r.Uint32())
			}
		}
		piece := func() {
			i := r.IntN(2)
			n := min(int64(1+r.IntN(20)), int64(len(want[i]))-at[i])
			if n == 0 {
				return
			}
			data := want[i][at[i]:][:n]
			to, o := h.Land(7, parts[i], at[i], n)
			if (to != nil) != (got[i] != nil) {
				t.Fatal("a piece lands where no destination is known, or not where one is")
			}
			if to != nil && r.IntN(2) == 0 {
				copy(to, data)
				o.Landed(parts[i], n)
			} else {
				if to != nil {
					o.Landed(parts[i], 0)
				}
				if err := h.Deliver(7, parts[i], at[i], data); err != nil {
					t.Fatal(err)
				}
			}
			at[i] += n
		}
		for range r.IntN(5) {
			piece()
		}
		o, err := h.Begin(7, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			for range r.IntN(5) {
				piece()
			}
			got[i] = make([]byte, len(want[i]))
			if r.IntN(2) == 0 {
				o.Admit(p, got[i])
				for range r.IntN(5) {
					piece()
				}
			}
			o.Expect(p, got[i])
		}
		for at[0] < int64(len(want[0])) || at[1] < int64(len(want[1])) {
			if o.Settled() {
				t.Fatal("settled too early")
			}
			piece()
		}
		if err := o.Wait(); err != nil || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Fatalf("%v: %v, want %v", err, got, want)
		}
		o.End()
		if len(h.open) != 0 || h.early != 0 {
			t.Fatalf("%d operations and %d bytes remain", len(h.open), h.early)
		}
		if _, err := h.Begin(7, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAdmitted settles an operation without a part that is admitted, and not when the part is expected, unless it has arrived.
func TestAdmitted(t *testing.T) {
	for _, first := range []bool{true, false} { // whether the part arrives before it is expected
		h, data := NewHall(), []byte{1, 2, 3, 4}
		o, err := h.Begin(7, nil)
		if err != nil {
			t.Fatal(err)
		}
		own, result := make([]byte, 4), make([]byte, 4)
		o.Admit(Part{1, resultStep}, result)
		o.Expect(Part{1, operandStep}, own)
		deliver := func(p Part) {
			t.Helper()
			if err := h.Deliver(7, p, 0, data); err != nil {
				t.Fatal(err)
			}
		}
		if first {
			deliver(Part{1, resultStep})
		}
		if o.Settled() {
			t.Error("settled without the operand")
		}
		deliver(Part{1, operandStep})
		if !o.Settled() {
			t.Error("an admitted part is awaited")
		}
		if o.Expect(Part{1, resultStep}, result); o.Settled() != first {
			t.Errorf("settled %t after the result is expected, which has arrived: %t", !first, first)
		}
		if !first {
			deliver(Part{1, resultStep})
		}
		if err := o.Wait(); err != nil || !slices.Equal(own, data) || !slices.Equal(result, data) || h.early != 0 {
			t.Errorf("%v: operand %v, result %v, %d early bytes", err, own, result, h.early)
		}
		o.Fail(h.Deliver(7, Part{1, resultStep}, 4, data)) // more than the part has
		if o.Err() == nil {
			t.Error("bytes behind the part are taken")
		}
	}
}

// TestEarlyBytes delivers many pieces before their destination is known. Memory of little more than their size keeps them.
func TestEarlyBytes(t *testing.T) {
	const pieces, size = 256, 64 << 10
	h, data := NewHall(), make([]byte, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range pieces {
		data[0] = byte(i)
		if err := h.Deliver(7, Part{1, 0}, int64(i)*size, data); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > pieces*size*5/4 {
		t.Errorf("%d bytes of memory for %d", n, pieces*size)
	}
	o, err := h.Begin(7, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, pieces*size)
	o.Expect(Part{1, 0}, got)
	for i := range pieces {
		if got[i*size] != byte(i) {
			t.Fatalf("piece %d is wrong", i)
		}
	}
	if !o.Settled() || h.early != 0 {
		t.Errorf("settled: %t, %d early bytes", o.Settled(), h.early)
	}
}

// TestFailures ends waits by the loss of a member, by a command and by the client's end, before and after the operation begins.
func TestFailures(t *testing.T) {
	why := errors.New("why")
	for _, fail := range []func(h *Hall){
		func(h *Hall) { h.Leave("b", why) }, func(h *Hall) { h.Fail(7, why) }, func(h *Hall) { h.Close(why) },
	} {
		h := NewHall()
		other, _ := h.Begin(8, []string{"c"})
		o, err := h.Begin(7, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		o.Expect(Part{1, 0}, make([]byte, 4))
		go fail(h)
		<-o.Failed()
		if err := o.Wait(); err != why || o.Err() != why || !o.Settled() {
			t.Errorf("%v", err)
		}
		if h.closed == nil && other.Err() != nil {
			t.Errorf("another operation: %v", other.Err())
		}
		if to, _ := h.Land(7, Part{1, 0}, 0, 4); to != nil {
			t.Error("bytes land after the failure")
		}
	}
	early := NewHall()
	if err := early.Deliver(7, Part{1, 0}, 0, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	early.Fail(7, why)
	if o, err := early.Begin(7, nil); err != nil || o.Wait() != why || early.early != 0 {
		t.Errorf("%v", err)
	}
	if _, err := early.Begin(7, nil); err != ErrBegun {
		t.Errorf("%v", err)
	}
	for i := range uint64(2 * remembered) {
		early.Fail(100+i, why)
	}
	if len(early.over) != remembered || len(early.recent) != remembered {
		t.Errorf("%d operations are remembered", len(early.over))
	}
}

// TestWrongPieces refuses pieces that do not follow each other or exceed their part.
func TestWrongPieces(t *testing.T) {
	h := NewHall()
	o, _ := h.Begin(7, nil)
	o.Expect(Part{1, 0}, make([]byte, 4))
	for _, c := range []struct{ at, n int64 }{{1, 1}, {0, 5}} {
		if to, _ := h.Land(7, Part{1, 0}, c.at, c.n); to != nil {
			t.Errorf("%d bytes land at %d", c.n, c.at)
		}
		if h.Deliver(7, Part{1, 0}, c.at, make([]byte, c.n)) == nil {
			t.Errorf("%d bytes are taken at %d", c.n, c.at)
		}
	}
	if h.Deliver(7, Part{2, 0}, 0, make([]byte, 5)) != nil {
		t.Error("early bytes are refused")
	}
	o.Expect(Part{2, 0}, make([]byte, 4))
	if o.Wait() == nil {
		t.Error("more bytes than expected are no failure")
	}
}

// TestProgress waits for each piece of a part.
func TestProgress(t *testing.T) {
	h := NewHall()
	o, _ := h.Begin(7, nil)
	o.Expect(Part{1, 0}, make([]byte, 3))
	for i := range 3 {
		go func() {
			if err := h.Deliver(7, Part{1, 0}, int64(i), make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}()
		if n := o.Progress(i); n != i+1 || o.Settled() != (i == 2) {
			t.Fatalf("%d pieces after %d", n, i)
		}
	}
}

// TestThen calls functions when operations have settled: at once, with the last bytes, and on other goroutines after a failure.
func TestThen(t *testing.T) {
	h := NewHall()
	var calls []string
	begin := func(number uint64, expects int) *Operation {
		o, err := h.Begin(number, []string{"peer"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range expects {
			o.Expect(Part{uint32(i), 0}, make([]byte, 2))
		}
		return o
	}
	deliver := func(number uint64, member uint32, n int) {
		if err := h.Deliver(number, Part{member, 0}, 0, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	deliver(1, 0, 2)
	begin(1, 1).Then(func() { calls = append(calls, "early") })
	two := begin(2, 2)
	two.Then(func() {
		calls = append(calls, "last")
		two.End()
	})
	deliver(2, 1, 2)
	calls = append(calls, "first")
	deliver(2, 0, 2)
	if want := []string{"early", "first", "last"}; !slices.Equal(calls, want) {
		t.Errorf("the calls are %q, want %q", calls, want)
	}
	failed := make(chan error)
	for number, fail := range map[uint64]func(*Operation){3: func(o *Operation) { o.Fail(io.EOF) }, 4: func(*Operation) { h.Fail(4, io.EOF) },
		5: func(*Operation) { h.Leave("peer", io.EOF) }, 6: func(*Operation) { h.Close(io.EOF) }} {
		o := begin(number, 1)
		o.Then(func() { failed <- o.Err() }) // would block the caller of fail
		fail(o)
		if err := <-failed; err != io.EOF {
			t.Errorf("operation %d: %v", number, err)
		}
	}
}

// TestEndWaits keeps an operation's memory in use until a piece has landed.
func TestEndWaits(t *testing.T) {
	h := NewHall()
	o, _ := h.Begin(7, nil)
	o.Expect(Part{1, 0}, make([]byte, 4))
	to, landing := h.Land(7, Part{1, 0}, 0, 4)
	ended := make(chan bool)
	go func() {
		o.Fail(errors.New("why"))
		o.End()
		close(ended)
	}()
	<-o.Failed()
	select {
	case <-ended:
		t.Error("the operation ended before the piece had landed")
	default:
	}
	to[0] = 1
	landing.Landed(Part{1, 0}, 4)
	<-ended
}
