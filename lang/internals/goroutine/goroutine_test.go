package goroutine

import (
	"runtime"
	"sync"
	"testing"
)

// TestCurrent checks that goroutines that run at the same time differ, and that one keeps its number across stack growth, garbage
// collections and changes of its thread.
func TestCurrent(t *testing.T) {
	const count = 200
	seen := make([]uint64, count)
	var all, ready sync.WaitGroup
	ready.Add(count)
	for i := range count {
		all.Go(func() {
			seen[i] = Current()
			ready.Done()
			ready.Wait()
			var deep func(n int) int
			deep = func(n int) int {
				var room [512]byte
				if n == 0 {
					return int(room[0])
				}
				return deep(n-1) + int(room[n%512])
			}
			for range 3 {
				deep(200)
				runtime.Gosched()
				if i == 0 {
					runtime.GC()
				}
				if now := Current(); now != seen[i] {
					t.Errorf("goroutine %d was %#x and is %#x", i, seen[i], now)
				}
			}
		})
	}
	all.Wait()
	numbers := map[uint64]bool{0: true, Current(): true}
	for _, n := range seen {
		if numbers[n] {
			t.Errorf("%#x twice", n)
		}
		numbers[n] = true
	}
}

func BenchmarkCurrent(b *testing.B) {
	for b.Loop() {
		Current()
	}
}
