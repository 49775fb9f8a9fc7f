package sched

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/tests/allocs"
)

// marks counts the runs of each unit.
type marks struct {
	units []atomic.Int32
	spin  int
	who   atomic.Int32 // number of participating goroutines
}

func (m *marks) Work(s Share) {
	took := false
	for first, last, ok := s.Next(); ok; first, last, ok = s.Next() {
		took = true
		for i := first; i < last; i++ {
			m.units[i].Add(1)
			for range m.spin {
			}
		}
	}
	if took {
		m.who.Add(1)
	}
}

func (m *marks) check(t *testing.T) {
	t.Helper()
	for i := range m.units {
		if n := m.units[i].Swap(0); n != 1 {
			t.Fatalf("unit %d of %d ran %d times", i, len(m.units), n)
		}
	}
}

func TestEveryUnitRunsOnce(t *testing.T) {
	for _, cores := range []int{1, 2, 5} {
		p := NewPool(cores)
		var j Job
		for _, units := range []int{1, 2, 7, 64, 1000} {
			for _, chunk := range []int{1, 3, 64, 5000} {
				for _, helpers := range []int{0, 1, 100} {
					m := &marks{units: make([]atomic.Int32, units)}
					p.Run(&j, m, units, chunk, helpers)
					m.check(t)
				}
			}
		}
		p.Close()
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	var wg sync.WaitGroup
	for range maxJobs + 8 {
		wg.Go(func() {
			var j Job
			m := &marks{units: make([]atomic.Int32, 100)}
			for i := range 50 {
				m.spin = i % 7 * 100
				p.Run(&j, m, len(m.units), 1+i%5, 3)
				m.check(t)
			}
		})
	}
	wg.Wait()
}

func TestWorkersHelp(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor")
	}
	p := NewPool(2)
	defer p.Close()
	var j Job
	m := &marks{units: make([]atomic.Int32, 1000), spin: 20_000}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		m.who.Store(0)
		p.Run(&j, m, len(m.units), 1, 1)
		m.check(t)
		if m.who.Load() == 2 {
			return
		}
	}
	t.Error("no worker ever took part")
}

type stopper struct{ after atomic.Int64 }

func (st *stopper) Work(s Share) {
	for _, _, ok := s.Next(); ok; _, _, ok = s.Next() {
		if st.after.Add(-1) == 0 {
			s.Stop()
		}
	}
}

func TestStop(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var j Job
	st := &stopper{}
	st.after.Store(10)
	p.Run(&j, st, 1<<40, 1, 2)
	if left := st.after.Load(); left > 0 || left < -1<<36 {
		t.Errorf("%d chunks left", left)
	}
}

func TestCloseEndsTheWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(6)
	var j Job
	for range 20 {
		p.Run(&j, &marks{units: make([]atomic.Int32, 1000), spin: 1000}, 1000, 1, 5)
	}
	p.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestNothingIsAllocated(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var j Job
	m := &marks{units: make([]atomic.Int32, 64)}
	p.Run(&j, m, 64, 1, 1)
	for _, helpers := range []int{0, 1} {
		if n := allocs.PerRun(200, func() { p.Run(&j, m, 64, 1, helpers) }); n != 0 {
			t.Errorf("%d helpers: %v allocations", helpers, n)
		}
	}
}

type nothing struct{}

func (*nothing) Work(s Share) {
	for _, _, ok := s.Next(); ok; _, _, ok = s.Next() {
	}
}

func BenchmarkRunAlone(b *testing.B)   { benchmarkRun(b, 0) }
func BenchmarkRunWithOne(b *testing.B) { benchmarkRun(b, 1) }

func benchmarkRun(b *testing.B, helpers int) {
	p := NewPool(2)
	defer p.Close()
	var j Job
	for b.Loop() {
		p.Run(&j, &nothing{}, 16, 1, helpers)
	}
}

// exiting ends the goroutines that run its first chunks.
type exiting struct{ left, done atomic.Int64 }

func (e *exiting) Work(s Share) {
	for first, last, ok := s.Next(); ok; first, last, ok = s.Next() {
		e.done.Add(int64(last - first))
		if e.left.Add(-1) >= 0 {
			runtime.Goexit()
		}
		runtime.Gosched()
	}
}

// TestExits runs tasks that end goroutines of workers and of a caller. Run and Close must return, and other jobs must keep
// all workers.
func TestExits(t *testing.T) {
	p := NewPool(4)
	var j Job
	for range 20 {
		e := &exiting{}
		e.left.Store(3)
		ended := make(chan bool)
		go func() {
			defer close(ended)
			p.Run(&j, e, 1000, 1, 3)
		}()
		<-ended
		if e.done.Load() == 0 {
			t.Fatal("nothing ran")
		}
		m := &marks{units: make([]atomic.Int32, 100)}
		p.Run(&j, m, 100, 1, 3)
		m.check(t)
	}
	p.Close()
	if n := p.count.Load(); n != 0 {
		t.Errorf("%d jobs are left in the table", n)
	}
}
