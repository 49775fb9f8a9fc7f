package scale

import (
	"context"
	"math"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// model is a plugin with one device, whose launches take a fixed time.
type model struct{ takes time.Duration }

func (model) Name() string                                     { return "model" }
func (m model) Open(context.Context) (offload.Platform, error) { return &modelPlatform{m.takes}, nil }
func (*modelPlatform) Info() offload.PlatformInfo              { return offload.PlatformInfo{Name: "model"} }
func (p *modelPlatform) Devices() []offload.Device             { return []offload.Device{&modelDevice{p.takes}} }
func (*modelPlatform) CheckImage(*offload.Image) error         { return nil }
func (*modelPlatform) Close() error                            { return nil }
func (*modelDevice) CheckImage(*offload.Image) (int, error)    { return 1, nil }
func (modelProgram) Symbols() []offload.Symbol                 { return nil }
func (modelProgram) Kernel(string) (offload.Kernel, error)     { return modelKernel{}, nil }
func (modelProgram) Global(name string) (offload.Memory, error) {
	return nil, offload.Errorf(offload.NotFound, "global", "no %s", name)
}
func (modelProgram) Unload() error { return nil }
func (modelKernel) Info() *offload.KernelInfo {
	return &offload.KernelInfo{Name: "work", Params: []offload.Param{}}
}
func (m modelMemory) Size() int64                            { return int64(len(m)) }
func (modelMemory) Kind() offload.MemoryKind                 { return offload.DeviceMemory }
func (m modelMemory) Bytes() []byte                          { return m }
func (modelMemory) Free() error                              { return nil }
func (*modelDevice) Bytes(m offload.Memory) ([]byte, error)  { return m.Bytes(), nil }
func (*modelDevice) Copy(dst, src []byte, _ *queue.Stop)     { copy(dst, src) }
func (*modelDevice) Fill(dst, pattern []byte, _ *queue.Stop) { copy(dst, pattern) }
func (d *modelDevice) NewLaunch() queue.Launch               { return &modelLaunch{d} }
func (*modelLaunch) Set(*offload.Launch) error               { return nil }
func (*modelLaunch) Detach()                                 {}
func (l *modelLaunch) Cost() (time.Duration, bool)           { return l.device.takes, false }
func (*modelLaunch) RunAtOnce(*offload.Launch) (bool, error) { return false, nil }
func (l *modelLaunch) Run(*queue.Stop) error                 { time.Sleep(l.device.takes); return nil }
func (*modelLaunch) Clear()                                  {}

type (
	modelPlatform struct{ takes time.Duration }
	modelDevice   struct{ takes time.Duration }
	modelProgram  struct{}
	modelKernel   struct{}
	modelMemory   []byte
	modelLaunch   struct{ device *modelDevice }
)

func (*modelDevice) Info() *offload.DeviceInfo {
	return &offload.DeviceInfo{Name: "Model", Type: offload.Accelerator, ComputeUnits: 1, MemoryBytes: 1 << 40, Limits: offload.Limits{
		AllocationBytes: 1 << 40, GroupItems: 1024, GroupSize: [3]int{1024, 1024, 1024}, Groups: [3]int{math.MaxInt32, math.MaxInt32, math.MaxInt32}}}
}

func (*modelDevice) Allocate(size int64, _ offload.MemoryKind) (offload.Memory, error) {
	m := make(modelMemory, size)
	return &m, nil
}

func (*modelDevice) Load(context.Context, *offload.Image) (offload.Program, error) {
	return modelProgram{}, nil
}

func (d *modelDevice) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	return queue.New(d, queue.Options{Label: o.Label, Device: "model"}), nil
}
