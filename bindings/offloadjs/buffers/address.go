package buffers

import (
	"context"
	"fmt"
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// address implements buffer.address, which returns a BigInt.
func (m *Module) address(b *Buffer) (goja.Value, error) {
	if err := m.AllowAddress(b.Label()); err != nil {
		return nil, err
	}
	at, err := b.Address()
	if err != nil {
		return nil, err
	}
	return m.VM.ToValue(new(big.Int).SetUint64(at)), nil
}

// memoryAt implements device.memoryAt(address), which returns the memory of a buffer that contains the address, or null.
func (m *Module) memoryAt(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
	if err := m.AllowAddress(d.ID()); err != nil {
		return nil, err
	}
	address, ok := element.Exported(call.Argument(0)).(*big.Int)
	if !ok || !address.IsUint64() {
		return nil, contract.Errorf(contract.InvalidArgument, "memoryAt", "expected an address, a BigInt of 64 bits, not %s", convert.Describe(call.Argument(0))).
			On(d.ID(), "").WithHint("buffer.address and library.address(name) are such addresses")
	}
	r, ok := d.RangeAt(address.Uint64())
	if !ok {
		return goja.Null(), nil
	}
	o := m.VM.NewObject()
	for _, f := range []struct {
		name  string
		value any
	}{
		{"label", r.Object.Label}, {"kind", r.Kind.String()}, {"address", new(big.Int).SetUint64(r.Address)}, {"size", r.Size},
		{"offset", int64(address.Uint64() - r.Address)},
	} {
		if err := o.Set(f.name, f.value); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// pin implements device.pin(array).
func (m *Module) pin(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
	data, _, ok := element.TypedArray(call.Argument(0))
	if !ok {
		buffer, isBuffer := element.Exported(call.Argument(0)).(goja.ArrayBuffer)
		if !isBuffer {
			return nil, contract.Errorf(contract.InvalidArgument, "pin", "expected a typed array or an ArrayBuffer, not %s", convert.Describe(call.Argument(0))).On(d.ID(), "")
		}
		data = buffer.Bytes()
	}
	p, err := d.PinHost(data)
	if err != nil {
		return nil, err
	}
	return m.pinned.New(p), nil
}

func (m *Module) definePinned() {
	release := func(p *session.PinnedHost, _ goja.FunctionCall) (goja.Value, error) {
		return m.Async(nil, "release", func(ctx context.Context) (func() (goja.Value, error), error) {
			return nil, p.Release(ctx)
		}), nil
	}
	m.pinned = lang.NewClass(m.Engine, lang.ClassSpec[*session.PinnedHost]{
		Name:    "PinnedMemory",
		Methods: []lang.Method[*session.PinnedHost]{script.Promised(m.Script, "release", release)},
		Fields: []lang.Field[*session.PinnedHost]{
			script.Value(m.Script, "pinned", func(p *session.PinnedHost) any { return p.Pinned() }),
			script.Value(m.Script, "size", func(p *session.PinnedHost) any { return p.Size() }),
			script.Field(m.Script, "device", func(p *session.PinnedHost) (goja.Value, error) { return m.devices.ObjectOf(p.Device()), nil }),
		},
		Inspect: func(p *session.PinnedHost, _ inspect.Options) string {
			return fmt.Sprintf("PinnedMemory of %d bytes for %s, pinned: %v", p.Size(), p.Device().ID(), p.Pinned())
		},
		AsyncDispose: func(p *session.PinnedHost) (goja.Value, error) { return release(p, goja.FunctionCall{}) },
	})
}

// AllowAddress returns an error unless the policy permits native code. Addresses are of use to native code only.
func (m *Module) AllowAddress(label string) error {
	if why := m.Engine.AllowNative(label); why != nil {
		return contract.Errorf(contract.PermissionDenied, "address", "addresses are for native code: %v", why).On("", label).
			WithHint("the program that runs this script decides whether it may run native code")
	}
	return nil
}
