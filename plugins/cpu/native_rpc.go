package cpu

import (
	"cmp"
	"errors"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/plugins/internal/native"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/rpc"
	rpchost "github.com/orepl/orepl/runtime/rpc/host"
)

// Names of kernels/include/orepl_rpc.h.
const (
	channelSymbol = "orepl_rpc_channel" // a pointer to the channel
	enterSymbol   = "orepl_rpc_enter"   // tells a thread the number of its launch
	rpcSymbols    = "orepl_rpc_"
)

// portsPerCore are enough ports for the threads of OpenMP regions beyond the device's own.
const portsPerCore = 4

// heapBytes bounds what the code of one image may allocate by orepl_rpc_malloc at a time.
const heapBytes = 256 << 20

// ports connects the code of a native program to the services of its launches.
type ports struct {
	host  *rpchost.Host
	enter uintptr // 0: the image does not tell its launches apart
}

// connect makes the channel of an image that has the symbol for it, and returns nil for other images.
func (d *device) connect(img *native.Image) (*ports, error) {
	s, _, ok := img.Lookup(channelSymbol)
	if !ok || s.Function || s.Size != 8 {
		return nil, nil
	}
	word := (*uint64)(unsafe.Pointer(unsafe.SliceData(img.Memory(s))))
	p := &ports{}
	if s, address, ok := img.Lookup(enterSymbol); ok && s.Function {
		p.enter = address
	}
	var err error
	p.host, err = rpchost.New(rpchost.Options{
		Layout: rpc.Layout{Ports: min(portsPerCore*max(d.pool.Cores(), 4), rpc.MaxPorts), Lanes: 1},
		Allocate: func(size int) (rpchost.Memory, error) {
			b, err := d.memory.Get(int64(size), true)
			if err != nil {
				return rpchost.Memory{}, err
			}
			return rpchost.Memory{Bytes: b.Bytes(), Free: func() { _ = b.Free() }}, nil
		},
		Heap:   heapBytes,
		Attach: func(address uintptr) { atomic.StoreUint64(word, uint64(address)) },
	})
	return p, err
}

// isPort reports whether a symbol is the header's, and no kernel or variable of the image.
func isPort(s native.Symbol) bool { return strings.HasPrefix(s.Name, rpcSymbols) }

// enterPorts makes the services of a launch known to its code. leave waits for the one-way calls.
func (l *nativeLaunch) enterPorts(stop *queue.Stop) (leave func(), err error) {
	p := l.kernel.program.ports
	ctx, release := stop.Context()
	l.number, err = p.host.Enter(&rpchost.Launch{
		Device: l.device.id, Kernel: l.kernel.info.Name, Size: l.size, Pos: l.at, Services: l.services, Context: ctx, Fail: l.failCall,
	})
	if err != nil {
		release()
		return nil, err
	}
	return func() {
		p.host.Leave(l.number, !l.cut.Load() && !stop.Requested())
		release()
	}, nil
}

// failCall keeps the error of a service. The code gets a status and returns by itself.
func (l *nativeLaunch) failCall(err error) {
	var exit *rpchost.Exit
	if errors.As(err, &exit) && exit.Code == 0 {
		l.exited.Store(true)
		l.refused.Store(true)
		return
	}
	e := l.refuse(offload.BackendFailure, "")
	e.Err = err
	var known *offload.Error
	if errors.As(err, &known) {
		e.Code, e.Detail, e.Hint, e.Err = known.Code, known.Detail, known.Hint, known.Err
	}
	var f *rpchost.Failure
	if errors.As(err, &f) {
		e.Fault = &offload.Fault{Code: e.Code, Kernel: l.kernel.info.Name, Item: f.Item, Cause: cmp.Or(e.Detail, err.Error())}
		if e.Code == offload.Assertion {
			e.Fault.Cause, e.Fault.Text = "", e.Detail
		}
		e.Detail = e.Fault.String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed, l.first = e, 0
	}
	l.refused.Store(true)
}
