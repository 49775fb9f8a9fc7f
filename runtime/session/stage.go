package session

import (
	"slices"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// The sizes of the host blocks for copies between unrelated devices are powers of two between these, in bytes.
const (
	leastStage = 2 * smallStage
	stageBytes = 8 << 20
)

const (
	keptStages = 4 // maximum number of staging blocks that a device keeps for later copies
	pairStages = 2 // maximum number of blocks of each size for copies from one queue to another: later copies reuse them
)

// stage is a staging block: host memory of the device, pinned if the driver supports it. If this process cannot access such
// memory, the block is the session's own memory.
type stage struct {
	bytes []byte
	free  func() error

	// The copies that use the block, guarded by Device.mu:
	in, out *Queue
	users   int  // number of copies that may not have finished
	issuing bool // a copy is being issued

	last fence // of in, after the newest command that reads the block; for the copy being issued
}

// blockFor returns the size of the blocks for a copy of size bytes: a power of two from leastStage to stageBytes.
func blockFor(size int64) int64 {
	n := int64(leastStage)
	for n < min(size, stageBytes) {
		n *= 2
	}
	return n
}

// takeStage returns a block of size bytes for a copy from out to in that involves the device. Earlier copies from out to in may
// still use it.
func (d *Device) takeStage(size int64, in, out *Queue) (*stage, error) {
	d.retired.Reap()
	if s := d.knownStage(size, in, out); s != nil {
		return s, nil
	}
	s, err := d.newStage(size)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.useStage(s, in, out)
	return s, nil
}

// knownStage returns a spare block. If there is none, and copies from out to in use pairStages blocks already, it returns the
// one of these that was used longest ago. It leaves out those of copies that are being issued. Otherwise it returns nil.
func (d *Device) knownStage(size int64, in, out *Queue) *stage {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, s := range d.stages {
		if int64(len(s.bytes)) == size {
			d.stages = slices.Delete(d.stages, i, i+1)
			s.last = fence{}
			d.useStage(s, in, out)
			return s
		}
	}
	shared, oldest := 0, -1
	for i, s := range d.staging {
		if s.in == in && s.out == out && int64(len(s.bytes)) == size {
			shared++
			if oldest < 0 && !s.issuing {
				oldest = i
			}
		}
	}
	if shared < pairStages || oldest < 0 {
		return nil
	}
	s := d.staging[oldest]
	d.staging = slices.Delete(d.staging, oldest, oldest+1)
	d.useStage(s, in, out)
	return s
}

// useStage adds a copy to those that use a block. The caller holds d.mu.
func (d *Device) useStage(s *stage, in, out *Queue) {
	s.in, s.out, s.issuing = in, out, true
	s.users++
	d.staging = append(d.staging, s)
}

// leaveStage records that a copy's commands have been issued.
func (d *Device) leaveStage(s *stage) {
	d.mu.Lock()
	s.issuing = false
	d.mu.Unlock()
}

// newStage returns a new block of size bytes, which the host can access.
func (d *Device) newStage(size int64) (*stage, error) {
	if d.raw.Info().Features.HostVisible {
		m, err := d.raw.Allocate(size, offload.HostMemory)
		if err != nil && offload.CodeOf(err) != offload.Unsupported {
			return nil, located(err, d.id, "staging")
		}
		if err == nil {
			if b := m.Bytes(); b != nil {
				return &stage{bytes: b, free: m.Free}, nil
			}
			d.freeStage(m.Free)
		}
	}
	b, err := d.session.staging().Get(size, false)
	if err != nil {
		return nil, located(err, d.id, "staging")
	}
	return &stage{bytes: b.Bytes(), free: b.Free}, nil
}

// returnStage ends a copy's use of a block. Without users, the block is kept for reuse, or freed if the device keeps keptStages
// blocks.
func (d *Device) returnStage(s *stage) {
	d.mu.Lock()
	s.users--
	unused := s.users == 0
	if unused {
		d.staging = slices.DeleteFunc(d.staging, func(o *stage) bool { return o == s })
		s.in, s.out = nil, nil
		if len(d.stages) < keptStages {
			d.stages = append(d.stages, s)
			unused = false
		}
	}
	d.mu.Unlock()
	if unused {
		d.freeStage(s.free)
	}
}

// freeStages frees the kept blocks. The caller holds d.mu.
func (d *Device) freeStages() {
	for _, s := range d.stages {
		d.freeStage(s.free)
	}
	d.stages = nil
}

func (d *Device) freeStage(free func() error) {
	if err := free(); err != nil {
		d.session.log.Error("staging memory could not be freed", "device", d.id, "error", err)
	}
}

// staging returns the session's pool of staging memory, which the first call creates.
func (s *Session) staging() *memory.Pool {
	s.stagingOnce.Do(func() { s.stagingPool.Store(memory.NewPool(memory.Options{})) })
	return s.stagingPool.Load()
}

// closeStaging closes the pool if there is one.
func (s *Session) closeStaging() {
	if p := s.stagingPool.Load(); p != nil {
		p.Close()
	}
}
