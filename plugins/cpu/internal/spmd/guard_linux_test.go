package spmd

import (
	"bytes"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// memories has the buffers of finished cases for reuse.
var memories shelf

type shelf struct {
	mu   sync.Mutex
	free []*guarded
}

func (s *shelf) get() *guarded {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return new(guarded)
	}
	g := s.free[n-1]
	s.free = s.free[:n-1]
	return g
}

func (s *shelf) put(g *guarded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, g)
}

// guarded allocates buffers of cases alternately before and after an inaccessible page. The unused bytes of their pages must
// not change.
type guarded struct {
	regions []*region // regions in use, followed by free ones
	used    int
	turns   int
	failed  error // error of a page allocation
}

type region struct {
	pages      []byte // accessible pages
	start, end int    // offsets of the buffer
}

const (
	pageBytes = 4096
	unwritten = 0xA5 // content of unused bytes
)

func (g *guarded) reset() { g.used = 0 }

func (g *guarded) take(n int) []byte {
	for i := g.used; i < len(g.regions); i++ {
		if r := g.regions[i]; len(r.pages) >= n && len(r.pages) <= 4*n+16*pageBytes {
			g.regions[g.used], g.regions[i] = r, g.regions[g.used]
			return g.place(r, n)
		}
	}
	size := max(4, 2*((n-1)/pageBytes+1)) * pageBytes
	all, err := unix.Mmap(-1, 0, size+2*pageBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil {
		err = unix.Mprotect(all[pageBytes:pageBytes+size], unix.PROT_READ|unix.PROT_WRITE)
	}
	if err != nil {
		g.failed = err
		return make([]byte, n+8)[:n]
	}
	r := &region{pages: all[pageBytes : pageBytes+size]}
	g.regions = append(g.regions, r)
	last := len(g.regions) - 1
	g.regions[g.used], g.regions[last] = r, g.regions[g.used]
	return g.place(r, n)
}

func (g *guarded) place(r *region, n int) []byte {
	g.used++
	g.turns++
	r.start = 0
	if g.turns%2 == 0 {
		r.start = len(r.pages) - n
	}
	r.end = r.start + n
	for _, rest := range [][]byte{r.pages[:r.start], r.pages[r.end:]} {
		for i := range rest {
			rest[i] = unwritten
		}
	}
	return r.pages[r.start:r.end:r.end]
}

// check returns an error if bytes outside the buffers changed.
func (g *guarded) check() error {
	if g.failed != nil {
		return g.failed
	}
	for _, r := range g.regions[:g.used] {
		for _, rest := range [][]byte{r.pages[:r.start], r.pages[r.end:]} {
			if n := bytes.Count(rest, []byte{unwritten}); n < len(rest) {
				return fmt.Errorf("%d bytes beside a buffer of %d were written", len(rest)-n, r.end-r.start)
			}
		}
	}
	return nil
}
