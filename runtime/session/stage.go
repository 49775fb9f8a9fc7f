package session

import (
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// stageBytes is the size of one of the two host blocks that a copy between unrelated devices passes through.
const stageBytes = 8 << 20

// keptStages is the number of staging blocks that a device keeps for later copies.
const keptStages = 4

// stage is a staging block: host memory of the device, pinned where the driver pins it. Where that is not visible to this
// process, it is the session's own memory.
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

// returnStage keeps a block for later, or frees it if enough are kept.
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

// freeStages frees the blocks that were kept. d.mu is held.
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

// staging returns the session's pool of staging memory, made at the first call.
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
