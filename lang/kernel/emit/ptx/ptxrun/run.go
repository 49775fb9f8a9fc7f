package ptxrun

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Launch describes a launch of a kernel.
type Launch struct {
	Grid, Block [3]int // number of groups, and items per group
	Params      []byte // the argument block

	// Memory returns the memory of an access in the global space, or nil if the address is invalid.
	Memory func(address uint64, size int) unsafe.Pointer
	// Host, if set, is called at each system-scope fence. It may access memory. If nil, the host may run on another goroutine.
	Host func()
	// Steps, if positive, is the maximum number of instructions of all items.
	Steps int
}

// item is the state of one item of a group.
type item struct {
	r     []uint64
	local []uint64
	next  int // index of the next instruction
	ended bool
}

// machine runs a launch.
type machine struct {
	k      *Kernel
	l      *Launch
	shared []uint64
	steps  int
	began  time.Time
	pages  map[uint64]*[pageSize]access // accesses of kernels with ld.global.nc
}

// access is a set of kinds of accesses to a byte.
type access uint8

const (
	loadedFixed access = 1 << iota // by ld.global.nc
	written

	pageSize = 4096
)

// note records an access to global memory. It returns an error if ld.global.nc loads a byte that the launch writes.
//
//go:norace
func (m *machine) note(address uint64, in *instr) error {
	kind := written
	if in.readOnly {
		kind = loadedFixed
	} else if in.class == loads {
		return nil
	}
	for n := range uint64(in.kind.size) {
		page := m.pages[(address+n)/pageSize]
		if page == nil {
			page = new([pageSize]access)
			m.pages[(address+n)/pageSize] = page
		}
		at := &page[(address+n)%pageSize]
		if *at |= kind; *at == loadedFixed|written {
			return fmt.Errorf("address %#x is written, and loaded by ld.global.nc", address+n)
		}
	}
	return nil
}

// Run runs a launch, one group after the other. It returns an error for an invalid group size or argument block, and for more than
// Steps instructions. Behaviour that PTX leaves undefined is an error that names the instruction.
func (k *Kernel) Run(l *Launch) error {
	items := l.Block[0] * l.Block[1] * l.Block[2]
	switch {
	case len(l.Params) != k.ParamSize:
		return fmt.Errorf("%s: the argument block has %d bytes instead of %d", k.Name, len(l.Params), k.ParamSize)
	case items < 1 || items > 1024 || k.MaxGroup > 0 && items > k.MaxGroup:
		return fmt.Errorf("%s: a group of %d items", k.Name, items)
	}
	m := &machine{k: k, l: l, shared: make([]uint64, k.shared/8), began: time.Now()}
	if k.readOnly {
		m.pages = map[uint64]*[pageSize]access{}
	}
	list := make([]item, items)
	for i := range list {
		list[i] = item{r: make([]uint64, len(k.initial)), local: make([]uint64, k.local/8)}
	}
	for z := range l.Grid[2] {
		for y := range l.Grid[1] {
			for x := range l.Grid[0] {
				if err := m.group(list, [3]int{x, y, z}); err != nil {
					return fmt.Errorf("%s, group %v: %w", k.Name, [3]int{x, y, z}, err)
				}
			}
		}
	}
	return nil
}

// scramble fills memory with arbitrary nonzero bits.
//
//go:norace
func scramble(words []uint64) {
	for i := range words {
		words[i] = 0xa5acb3bac1c8cfd6 + uint64(i)
	}
}

// group runs the items of a group from barrier to barrier.
//
//go:norace
func (m *machine) group(list []item, at [3]int) error {
	scramble(m.shared)
	size := m.l.Block
	for n := range list {
		t := &list[n]
		copy(t.r, m.k.initial)
		scramble(t.local)
		t.next, t.ended = 0, false
		for i, v := range [...]int{n % size[0], n / size[0] % size[1], n / size[0] / size[1], at[0], at[1], at[2], size[0], size[1], size[2], m.l.Grid[0], m.l.Grid[1], m.l.Grid[2], n % warp} {
			t.r[i] = uint64(v)
		}
	}
	for {
		for n := range list {
			if err := m.item(&list[n]); err != nil {
				return fmt.Errorf("item %d: %q: %w", n, m.k.code[list[n].next].text, err)
			}
			if list[n].ended != list[0].ended || !list[n].ended && list[n].next != list[0].next {
				return fmt.Errorf("item %d waits at another barrier than the first one, or has ended: %q, %q", n, m.k.code[list[n].next].text, m.k.code[list[0].next].text)
			}
		}
		if list[0].ended {
			return nil
		}
		if err := exchange(list, &m.k.code[list[0].next]); err != nil {
			return err
		}
		for n := range list {
			list[n].next++
		}
	}
}

const warp = 32 // items per warp

// exchange executes a vote or shuffle that all items of the group have reached. It does nothing for a barrier. It returns an error if
// an item's lane mask is not that of its warp.
func exchange(list []item, in *instr) error {
	if in.class == meets {
		return nil
	}
	for start := 0; start < len(list); start += warp {
		lanes := list[start:min(start+warp, len(list))]
		var results [warp]uint64
		for i := range lanes {
			r := lanes[i].r
			if mask := r[in.from[2]]; mask != 1<<len(lanes)-1 {
				return fmt.Errorf("%q: the mask %#x is not that of %d lanes", in.text, mask, len(lanes))
			}
			results[i] = 0x7b7b7b7b // for a lane that the warp lacks
			if from := int(r[in.from[1]] % warp); in.class == shuffles && from < len(lanes) {
				results[i] = lanes[from].r[in.from[0]]
			}
			if in.class == votes {
				results[i] = 0
				for j := range lanes {
					results[i] |= lanes[j].r[in.from[0]] << j
				}
			}
		}
		for i := range lanes {
			lanes[i].r[in.to] = results[i]
		}
	}
	return nil
}

// item runs an item until it ends, fails, or reaches a barrier, vote or shuffle; t.next is then the index of the instruction. Go's race
// detector does not check item and the helpers that are marked go:norace. The registers belong to this goroutine. PTX, not Go, defines
// the order of accesses to the memory of kernels.
//
//go:norace
func (m *machine) item(t *item) (err error) {
	r, code := t.r, m.k.code
	for ; ; t.next++ {
		in := &code[t.next]
		if in.guard >= 0 && (r[in.guard] == 0) != in.unless {
			continue
		}
		if m.steps++; m.l.Steps > 0 && m.steps > m.l.Steps {
			return fmt.Errorf("more than %d steps", m.l.Steps)
		}
		switch in.class {
		case computes:
			if in.fast != nil {
				r[in.to] = in.fast(r[in.from[0]], r[in.from[1]], r[in.from[2]])
			} else if r[in.to], err = in.f(r[in.from[0]], r[in.from[1]], r[in.from[2]]); err != nil {
				return err
			}
		case branches:
			t.next = in.target - 1
		case ends:
			t.ended = true
			return nil
		case meets, votes, shuffles:
			return nil
		case waits:
			if m.l.Host != nil && in.system {
				m.l.Host()
			} else {
				runtime.Gosched()
			}
		case clocks:
			r[in.to] = uint64(time.Since(m.began))
		case loads:
			if in.space == "param" {
				r[in.to] = m.l.param(in)
				continue
			}
			p, err := m.at(t, in)
			if err != nil {
				return err
			}
			r[in.to] = low(in.kind.extend(load(p, in.kind.size)), max(in.kind.size, 4))
		case stores:
			p, err := m.at(t, in)
			if err != nil {
				return err
			}
			store(p, in.kind.size, r[in.from[1]])
		case updates:
			p, err := m.at(t, in)
			if err != nil {
				return err
			}
			r[in.to] = update(p, in, r[in.from[1]], r[in.from[2]])
		}
	}
}

//go:norace
func (l *Launch) param(in *instr) (bits uint64) {
	for i := range in.kind.size {
		bits |= uint64(l.Params[int(in.offset)+i]) << (8 * i)
	}
	return low(in.kind.extend(bits), max(in.kind.size, 4))
}

// at returns the memory of an access.
//
//go:norace
func (m *machine) at(t *item, in *instr) (unsafe.Pointer, error) {
	address, size := t.r[in.from[0]]+in.offset, uint64(in.kind.size)
	if address%size != 0 {
		return nil, fmt.Errorf("address %#x is not aligned", address)
	}
	words := t.local
	switch in.space {
	case "shared":
		words = m.shared
	case "global":
		for _, s := range m.k.module.memory {
			if address >= s.address && address-s.address <= s.size-size {
				if in.class != loads {
					return nil, fmt.Errorf("address %#x is constant", address)
				}
				return unsafe.Add(unsafe.Pointer(&s.data[0]), address-s.address), nil
			}
		}
		if p := m.l.Memory(address, in.kind.size); p != nil {
			if m.pages != nil {
				return p, m.note(address, in)
			}
			return p, nil
		}
		return nil, fmt.Errorf("address %#x is in no memory", address)
	}
	if total := uint64(8 * len(words)); address >= total || address > total-size {
		return nil, fmt.Errorf("address %#x is outside the %d bytes of the space %s", address, total, in.space)
	}
	return unsafe.Add(unsafe.Pointer(&words[0]), address), nil
}

//go:norace
func load(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

//go:norace
func store(p unsafe.Pointer, size int, x uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

// update performs an atomic operation on memory, which other launches and the host may access concurrently. It returns the old
// value.
func update(p unsafe.Pointer, in *instr, x, y uint64) uint64 {
	for {
		if in.kind.size == 4 {
			old := atomic.LoadUint32((*uint32)(p))
			if n := uint32(in.fast(uint64(old), x, y)); n == old || atomic.CompareAndSwapUint32((*uint32)(p), old, n) {
				return uint64(old)
			}
			continue
		}
		old := atomic.LoadUint64((*uint64)(p))
		if n := in.fast(old, x, y); n == old || atomic.CompareAndSwapUint64((*uint64)(p), old, n) {
			return old
		}
	}
}
