package offloadjs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"

	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// inexact is the CPU plugin with devices that do not promise the language's bits.
type inexact struct{ contract.Plugin }

func (p inexact) Open(ctx context.Context) (contract.Platform, error) {
	raw, err := p.Plugin.Open(ctx)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(raw.Devices())
	for i, d := range list {
		info := *d.Info()
		info.Features.Exact = false
		list[i] = &inexactDevice{d, &info}
	}
	return &inexactPlatform{raw, list}, nil
}

type inexactPlatform struct {
	contract.Platform
	devices []contract.Device
}

func (p *inexactPlatform) Devices() []contract.Device { return p.devices }

type inexactDevice struct {
	contract.Device
	info *contract.DeviceInfo
}

func (d *inexactDevice) Info() *contract.DeviceInfo { return d.info }

func TestExactKernelsNeedAnExactDevice(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{inexact{cpu.New(cpu.Options{})}}})
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	defer e.Close()
	const script = `
import { device, kernel, f32 } from 'offload'
const fn = (g, x) => { x[g.x] = x[g.x] / 3 }
const x = device().buffer(new Float32Array([3]))
await kernel(fn, { exact: EXACT }).launch({ size: 1 }, x)
`
	_, err = e.Run(context.Background(), "exact.js", strings.Replace(script, "EXACT", "true", 1))
	if text := fmt.Sprint(err); !strings.Contains(text, "cannot") || !strings.Contains(text, "unsupported") {
		t.Errorf("an exact kernel on an inexact device: %v", err)
	}
	if _, err = e.Run(context.Background(), "any.js", strings.Replace(script, "EXACT", "false", 1)); err != nil {
		t.Error(err)
	}
}
