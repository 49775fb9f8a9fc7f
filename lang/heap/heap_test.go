package heap

import (
	"runtime"
	"slices"
	"testing"
)

// TestShares checks the bytes of owners that hold small and large objects, made at several depths, beside objects of none.
func TestShares(t *testing.T) {
	const mib = 1 << 20
	grow := func(bytes, each int) [][]byte {
		each -= 24 // a slice's own size
		list := make([][]byte, 0, bytes/(each+24))
		for range bytes / (each + 24) {
			list = append(list, make([]byte, each))
		}
		return list
	}
	others := grow(96*mib, 4096)
	for _, c := range []struct{ bytes, each, depth int }{{64 * mib, 1024, 0}, {64 * mib, 8 * mib, 3}, {40 * mib, 136, 20}} {
		o, bystander := NewOwner(func() uint64 { return 1 << 40 }), NewOwner(func() uint64 { return 1 << 40 })
		var kept [][]byte
		var deep func(n int)
		deep = func(n int) {
			if n > 0 {
				deep(n - 1)
				return
			}
			kept = grow(c.bytes, c.each)
		}
		bystander.Run(func() { o.Run(func() { deep(c.depth) }) })
		used, yes := exceeds(o, uint64(c.bytes)*3/4, 0)
		if !yes || used < uint64(c.bytes)*3/4 || used > uint64(c.bytes)*5/4 {
			t.Errorf("%+v: %d MiB, above the limit: %v", c, used/mib, yes)
		}
		if used, yes := exceeds(o, uint64(c.bytes)*3/2, 0); yes {
			t.Errorf("%+v: %d MiB are above a larger limit", c, used/mib)
		}
		if _, yes := exceeds(o, uint64(c.bytes)*3/2, uint64(c.bytes)); !yes {
			t.Errorf("%+v: as much again is not above the limit", c)
		}
		if used, yes := exceeds(bystander, 8*mib, 0); yes {
			t.Errorf("%+v: the bystander has %d MiB", c, used/mib)
		}
		runtime.KeepAlive(kept)
		kept = nil
		if used, yes := exceeds(o, 8*mib, 0); yes {
			t.Errorf("%+v: %d MiB after the end of use", c, used/mib)
		}
		o.Release()
		bystander.Release()
	}
	runtime.KeepAlive(others)
}

// TestDeepStacks checks that objects made below the frames that a profile keeps count for every owner.
func TestDeepStacks(t *testing.T) {
	const mib = 1 << 20
	o, other := NewOwner(func() uint64 { return 1 << 40 }), NewOwner(func() uint64 { return 1 << 40 })
	defer o.Release()
	defer other.Release()
	var kept [][]byte
	var deep func(n int)
	deep = func(n int) {
		if n > 0 {
			deep(n - 1)
			return
		}
		for range 64 {
			kept = append(kept, make([]byte, mib))
		}
	}
	o.Run(func() { deep(300) })
	for _, x := range []*Owner{o, other} {
		if used, yes := exceeds(x, 48*mib, 0); !yes {
			t.Errorf("%d MiB", used/mib)
		}
	}
	runtime.KeepAlive(kept)
}

// TestNumbers checks that numbers are distinct, and reused after release, oldest first.
func TestNumbers(t *testing.T) {
	numbers.Lock()
	made, free := numbers.made, slices.Clone(numbers.free)
	numbers.Unlock()
	defer func() {
		numbers.Lock()
		numbers.made, numbers.free = made, free
		numbers.Unlock()
	}()
	var all []*Owner
	seen := map[uint32]bool{}
	for range most + 1 {
		o := NewOwner(func() uint64 { return 1 << 40 })
		if seen[o.id.Load()] && o.id.Load() != 0 {
			t.Fatalf("number %d twice", o.id.Load())
		}
		seen[o.id.Load()] = true
		all = append(all, o)
	}
	if last := all[len(all)-1]; last.id.Load() != 0 {
		t.Errorf("the owner beyond the most has the number %d", last.id.Load())
	}
	first := all[5].id.Load()
	for _, o := range all[5:8] {
		o.Release()
		o.Release()
	}
	if got := NewOwner(func() uint64 { return 1 << 40 }).id.Load(); len(free) == 0 && got != first {
		t.Errorf("%d is reused, not %d", got, first)
	}
}

// exceeds is Exceeds without the use of an earlier division.
func exceeds(o *Owner, limit, more uint64) (used uint64, yes bool) {
	latest.Store(nil)
	return o.Exceeds(limit, more)
}

func BenchmarkRun(b *testing.B) {
	o := NewOwner(func() uint64 { return 1 << 40 })
	defer o.Release()
	n := 0
	for b.Loop() {
		o.Run(func() { n++ })
	}
}

func BenchmarkTake(b *testing.B) {
	for b.Loop() {
		take()
	}
}
