package session

import (
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// stageBytes is the size of each of the two host blocks for a copy between unrelated devices, in bytes.
const stageBytes = 8 << 20

// keptStages is the maximum number of staging blocks that a device keeps for later copies.
const keptStages = 4

// stage is a staging block: host memory of the device, pinned if the driver supports it. If this process cannot access such
// memory, the block is the session's own memory.
type stage struct {
	bytes []byte
	free  func() error
}

// takeStage returns a staging block for copies that involve the device.
func (d *Device) takeStage() (*stage, error) {
	d.mu.Lock()
	if n := len(d.stages); n > 0 {
		s := d.stages[n-1]
		d.stages = d.stages[:n-1]
		d.mu.Unlock()
		return s, nil
	}
	d.mu.Unlock()
	if d.raw.Info().Features.HostVisible {
		m, err := d.raw.Allocate(stageBytes, offload.HostMemory)
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
	b, err := d.session.staging().Get(stageBytes, false)
	if err != nil {
		return nil, located(err, d.id, "staging")
	}
	return &stage{bytes: b.Bytes(), free: b.Free}, nil
}

// returnStage keeps a block for reuse, or frees it if the device has keptStages blocks.
func (d *Device) returnStage(s *stage) {
	d.mu.Lock()
	if len(d.stages) < keptStages {
		d.stages = append(d.stages, s)
		s = nil
	}
	d.mu.Unlock()
	if s != nil {
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
