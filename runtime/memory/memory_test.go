package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

func TestCapacityWastesAtMostAFifth(t *testing.T) {
	for _, size := range []int64{1, 4095, 4096, 4097, 5000, 1 << 14, 1<<14 + 1, 1 << 20, 1<<20 + 1, 100_000_001, 1 << 40} {
		n := Capacity(size)
		if n < size || n%pageSize != 0 || n != Capacity(n) || size > 1<<14 && float64(n-size) > 0.2*float64(n) {
			t.Errorf("%d bytes take %d", size, n)
		}
	}
}

func TestBigBlocksBeginAtDifferentPlacesInAPage(t *testing.T) {
	p := NewPool(Options{Limit: 256 << 20})
	defer p.Close()
	seen := map[uintptr]bool{}
	for range len(skews) {
		b, err := p.Get(hugePage, true)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		data := b.Bytes()
		data[0], data[hugePage-1] = 1, 1
		seen[uintptr(unsafe.Pointer(&data[0]))%pageSize] = true
	}
	if len(seen) != len(skews) {
		t.Errorf("%d places for %d blocks", len(seen), len(skews))
	}
}

func TestBlocksAreAlignedReusedAndZeroOnDemand(t *testing.T) {
	p := NewPool(Options{Limit: 256 << 20})
	defer p.Close()
	for _, size := range []int64{1, 64, 4096, 5000, 3 << 20, 20<<20 + 7} {
		b, err := p.Get(size, true)
		if err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if int64(len(data)) != size || uintptr(unsafe.Pointer(&data[0]))%64 != 0 || !allZero(data) {
			t.Errorf("%d bytes: length %d, zero %v", size, len(data), allZero(data))
		}
		Fill(data, []byte{0xFF})
		first := &data[0]
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
		if err := b.Free(); offload.CodeOf(err) != offload.Closed {
			t.Errorf("second free: %v", err)
		}
		b, err = p.Get(size, true)
		if err != nil {
			t.Fatal(err)
		}
		if &b.Bytes()[0] != first || !allZero(b.Bytes()) {
			t.Errorf("%d bytes were not reused, or not cleared", size)
		}
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.Stats(); s.Mapped != 4 || s.Used != 0 || s.Reused != 8 { // the three smallest share a class
		t.Errorf("%+v", s)
	}
	p.Trim()
	if s := p.Stats(); s.Kept != 0 || s.Unmapped != s.Mapped {
		t.Errorf("after trimming: %+v", s)
	}
}

func TestLimitIsAnError(t *testing.T) {
	p := NewPool(Options{Limit: 16 << 20})
	defer p.Close()
	if _, err := p.Get(1<<40, false); offload.CodeOf(err) != offload.OutOfResources {
		t.Errorf("a terabyte gave %v", err)
	}
	if _, err := p.Get(0, false); offload.CodeOf(err) != offload.InvalidSize {
		t.Errorf("nothing gave %v", err)
	}
	var blocks []*Block
	for {
		b, err := p.Get(3<<20, false)
		if err != nil {
			if offload.CodeOf(err) != offload.OutOfResources {
				t.Fatal(err)
			}
			break
		}
		blocks = append(blocks, b)
	}
	if len(blocks) != 5 {
		t.Errorf("%d blocks of 3 MiB in 16 MiB", len(blocks))
	}
	for _, b := range blocks {
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if s := p.Stats(); s.Kept > 4<<20 {
		t.Errorf("more than the high water is kept: %+v", s)
	}
	b, err := p.Get(15<<20, false) // needs the memory that the pool keeps
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
}

func TestPoolHammer(t *testing.T) {
	p := NewPool(Options{Limit: 64 << 20})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range 500 {
				b, err := p.Get(1+rng.Int64N(1<<20), true)
				if err != nil {
					t.Error(err)
					return
				}
				data := b.Bytes()
				if data[0] != 0 || data[len(data)-1] != 0 {
					t.Error("not zero")
				}
				data[0], data[len(data)-1] = byte(g+1), byte(g+1)
				if data[0] != byte(g+1) {
					t.Error("somebody else has this block")
				}
				if err := b.Free(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p.Close()
	if s := p.Stats(); s.Used != 0 || s.Kept != 0 || s.Mapped != s.Unmapped {
		t.Errorf("%+v", s)
	}
	if _, err := p.Get(1, false); offload.CodeOf(err) != offload.Closed {
		t.Errorf("a closed pool gave %v", err)
	}
}

func TestCopyAndFill(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{0, 1, 63, 64, 255, 256, 1000, 1<<16 + 3, splitFrom + 77} {
		src, dst := make([]byte, n+32), make([]byte, n+32)
		_, _ = rng.Read(src) // Read never fails
		for _, skew := range [][2]int{{0, 0}, {1, 0}, {0, 3}, {15, 16}, {7, 13}} {
			for name, fn := range map[string]func(dst, src []byte){
				"Copy":   func(dst, src []byte) { Copy(dst, src) },
				"serial": func(dst, src []byte) { copySized(dst, src, streamFrom) },
			} {
				clear(dst)
				fn(dst[skew[0]:skew[0]+n], src[skew[1]:skew[1]+n])
				if !bytes.Equal(dst[skew[0]:skew[0]+n], src[skew[1]:skew[1]+n]) || !allZero(dst[:skew[0]]) || !allZero(dst[skew[0]+n:]) {
					t.Errorf("%s of %d bytes at %v", name, n, skew)
				}
			}
		}
		for _, size := range []int{1, 2, 4, 8, 16} {
			pattern := src[:size]
			clear(dst)
			Fill(dst[:n], pattern)
			if want := bytes.Repeat(pattern, n/size+1)[:n]; !bytes.Equal(dst[:n], want) || !allZero(dst[n:]) {
				t.Errorf("fill of %d bytes with %d", n, size)
			}
			Fill(dst[:n], make([]byte, size))
			if !allZero(dst) {
				t.Errorf("fill of %d bytes with zeros", n)
			}
		}
	}
}

func TestAvailable(t *testing.T) {
	if n := Available(); n < 16<<20 || n > 1<<50 {
		t.Errorf("%d bytes are available", n)
	}
}

// BenchmarkCopy compares Go's copy, the streaming copy and the split copy.
func BenchmarkCopy(b *testing.B) {
	p := NewPool(Options{})
	defer p.Close()
	for _, n := range []int64{1 << 20, 16 << 20, 256 << 20} {
		src, err1 := p.Get(n, true)
		dst, err2 := p.Get(n, true)
		if err1 != nil || err2 != nil {
			b.Skip(err1, err2)
		}
		Fill(src.Bytes(), []byte{1})
		Fill(dst.Bytes(), []byte{2})
		for _, c := range []struct {
			name string
			fn   func(dst, src []byte)
		}{
			{"go", func(dst, src []byte) { copy(dst, src) }},
			{"cached", copyCached}, {"large", copyLarge},
			{"Copy", func(dst, src []byte) { Copy(dst, src) }},
		} {
			b.Run(fmt.Sprintf("%dMiB/%s", n>>20, c.name), func(b *testing.B) {
				b.SetBytes(n)
				for b.Loop() {
					c.fn(dst.Bytes(), src.Bytes())
				}
			})
		}
		_, _ = src.Free(), dst.Free()
	}
}
