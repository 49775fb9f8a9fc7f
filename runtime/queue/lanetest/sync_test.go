package lanetest

import (
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// testDevice is the part of a device that these tests use.
type testDevice interface {
	NewQueue(label string) *queue.Queue
	NewMemory(n int) *Memory
	Close() []string
}

// syncDevice is a synchronous device with the memory and the kernels of this package: the two kinds of queues must behave
// alike.
type syncDevice struct{ clock queue.Clock }

func (d *syncDevice) NewQueue(label string) *queue.Queue {
	return queue.New(d, queue.Options{Label: label, Device: "test", Clock: d.clock})
}

func (d *syncDevice) NewMemory(n int) *Memory                { return &Memory{nil, make([]byte, n)} }
func (d *syncDevice) Close() []string                        { return nil }
func (d *syncDevice) Bytes(m offload.Memory) ([]byte, error) { return m.(*Memory).Data, nil }
func (d *syncDevice) Copy(dst, src []byte, _ *queue.Stop)    { copy(dst, src) }
func (d *syncDevice) NewLaunch() queue.Launch                { return &syncLaunch{} }

func (d *syncDevice) Fill(dst, pattern []byte, _ *queue.Stop) {
	for len(dst) > 0 {
		dst = dst[copy(dst, pattern):]
	}
}

type syncLaunch struct{ launch }

func (l *syncLaunch) Detach()                                 {}
func (l *syncLaunch) Cost() (time.Duration, bool)             { return time.Millisecond, false }
func (l *syncLaunch) RunAtOnce(*offload.Launch) (bool, error) { return false, nil }

func (l *syncLaunch) Run(stop *queue.Stop) error {
	if l.kernel.Refuse != nil {
		return l.kernel.Refuse
	}
	return l.kernel.Do(stop.Requested)
}
