package cpu

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/internal/native"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/rpc"
	rpchost "github.com/orepl/orepl/runtime/rpc/host"
)

// Names of kernels/include/orepl_rpc.h, and the client of LLVM 19 and before.
const (
	channelSymbol = "orepl_rpc_channel" // a pointer to the channel
	enterSymbol   = "orepl_rpc_enter"   // a function that sets the launch number of the calling thread
	rpcSymbols    = "orepl_rpc_"        // the prefix of all names

	oldClientSymbol = "__llvm_libc_rpc_client"
)

// portsPerCore is the number of ports per core, up to rpc.MaxPorts in all. Those beyond one per core serve threads of OpenMP regions.
// A device of fewer than four cores has the ports of four.
const portsPerCore = 4

// heapBytes bounds the live memory that the code of one image may allocate by orepl_rpc_malloc.
const heapBytes = 256 << 20

// ports connects the code of a native program with the services of its launches.
type ports struct {
	host  *rpchost.Host
	enter uintptr // the address of the function enterSymbol; 0 if calls do not identify their launch
}

// connect creates the RPC channel of an image that has the symbol of our channel or of LLVM's client. It returns nil for an
// image without these symbols. It returns an error for an image with both, with one of the wrong kind, size or version, or in
// memory that cannot be written.
func (d *device) connect(img *native.Image, label string) (*ports, error) {
	refuse := func(format string, args ...any) *offload.Error {
		return offload.Errorf(offload.Unsupported, "load", format, args...).On(d.id, label)
	}
	ours, _, own := img.Lookup(channelSymbol)
	theirs, _, llvm := img.Lookup(rpc.LLVMClientSymbol)
	old, _, isOld := img.Lookup(oldClientSymbol)
	switch {
	case own && llvm:
		return nil, refuse("the image has both orepl_rpc_channel and %s, and is served through one of them", theirs.Name)
	case own && (ours.Function || ours.Size != 8):
		return nil, refuse("%s is not a pointer", channelSymbol)
	case llvm && (theirs.Function || theirs.Size != rpc.LLVMClientBytes):
		return nil, refuse("%s has %d bytes; the client of LLVM 20 and later has %d", theirs.Name, theirs.Size, rpc.LLVMClientBytes)
	case isOld && !llvm:
		return nil, refuse("%s is the client of LLVM 19 and before, whose packets lie elsewhere", old.Name).
			WithHint("build the image with the libc of LLVM 20 or later")
	case !own && !llvm:
		return nil, nil
	}
	p := &ports{}
	if s, address, ok := img.Lookup(enterSymbol); ok && s.Function && own {
		p.enter = address
	}
	layout := rpc.Layout{Ports: min(portsPerCore*max(d.pool.Cores(), 4), rpc.MaxPorts), Lanes: 1}
	attach := func(address uintptr) error {
		if llvm {
			return d.patch(img, theirs, rpc.LLVMClient(address, layout))
		}
		return d.patch(img, ours, binary.LittleEndian.AppendUint64(nil, uint64(address)))
	}
	var err error
	p.host, err = rpchost.New(rpchost.Options{
		Layout: layout,
		Allocate: func(size int) (rpchost.Memory, error) {
			b, err := d.memory.Get(int64(size), true)
			if err != nil {
				return rpchost.Memory{}, err
			}
			return rpchost.Memory{Bytes: b.Bytes(), Free: func() { _ = b.Free() }}, nil
		},
		Attach: attach, Silent: llvm, Heap: heapBytes,
	})
	return p, err
}

// patch overwrites a variable of an image with data. It returns an error if its memory cannot be written.
func (d *device) patch(img *native.Image, s native.Symbol, data []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = offload.Errorf(offload.Unsupported, "load", "the variable %s is in memory that cannot be written", s.Name).
				WithHint("declare it without const")
		}
	}()
	copy(img.Memory(s), data)
	return nil
}

// isPort reports whether a symbol belongs to orepl's RPC header or LLVM's RPC client, rather than to the image's kernels and
// variables.
func isPort(s native.Symbol) bool {
	return strings.HasPrefix(s.Name, rpcSymbols) || s.Name == rpc.LLVMClientSymbol
}

// enterPorts registers the launch's services for calls of its code. leave, nil after an error, unregisters the services. It
// first waits for the one-way calls of the code. It does not wait if the launch was stopped, or a fault or an interruption ended
// a call of the function.
func (l *nativeLaunch) enterPorts(stop *queue.Stop) (leave func(), err error) {
	p := l.kernel.program.ports
	ctx, release := stop.Context()
	halt := new(atomic.Bool) // a late goroutine of this launch must not stop the next one
	end := func() { halt.Store(true) }
	l.halt, l.patience = halt, time.AfterFunc(math.MaxInt64, end) // set before a call can fail
	l.number, err = p.host.Enter(&rpchost.Launch{
		Device: l.device.id, Kernel: l.kernel.info.Name, Size: l.size, Pos: l.at, Services: l.services, Context: ctx, Fail: l.failCall,
	})
	if err != nil {
		l.patience.Stop()
		release()
		return nil, err
	}
	stopped := context.AfterFunc(ctx, end)
	return func() {
		l.patience.Stop()
		stopped()
		p.host.Leave(l.number, !l.cut.Load() && !stop.Requested())
		release()
	}, nil
}

// failPatience is the time after a service's failure in which the code can still return normally.
const failPatience = time.Second

// failCall records the error of a service, or that the code called exit. The code is interrupted if it does not return in
// failPatience, or immediately if it called exit. Exit code 0 is no failure.
func (l *nativeLaunch) failCall(err error) {
	var exit *rpchost.Exit
	if errors.As(err, &exit) && exit.Code == 0 {
		l.exited.Store(true)
		l.refused.Store(true)
		l.patience.Reset(0)
		return
	}
	e := l.refuse(offload.BackendFailure, "")
	e.Err = err
	var known *offload.Error
	if errors.As(err, &known) {
		e.Code, e.Detail, e.Hint, e.Err = known.Code, known.Text(), known.Hint, known.Err
	}
	var f *rpchost.Failure
	if errors.As(err, &f) {
		e.Fault = &offload.Fault{Code: e.Code, Kernel: l.kernel.info.Name, Item: f.Item, Cause: cmp.Or(e.Detail, err.Error())}
		if e.Code == offload.Assertion {
			e.Fault.Cause, e.Fault.Text = "", e.Detail
		}
		e.Detail = ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed, l.first = e, 0
	}
	if l.refused.Swap(true) {
		return
	}
	if exit != nil {
		l.patience.Reset(0)
	} else {
		l.patience.Reset(failPatience)
	}
}
