package orepl_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// slower is the plugin for the CPU with devices that are not as expected.
type slower struct{ offload.Plugin }

func (s slower) Open(ctx context.Context) (offload.Platform, error) {
	p, err := s.Plugin.Open(ctx)
	return slowerPlatform{p}, err
}

type slowerPlatform struct{ offload.Platform }

func (p slowerPlatform) Devices() []offload.Device {
	list := p.Platform.Devices()
	for i, d := range list {
		list[i] = slowerDevice{d}
	}
	return list
}

type slowerDevice struct{ offload.Device }

func (d slowerDevice) Info() *offload.DeviceInfo {
	info := *d.Device.Info()
	info.Notice = "kernels are interpreted"
	return &info
}

// TestNoticeOfPipelines checks that the program's log and the script's warnings tell why a device is slow.
func TestNoticeOfPipelines(t *testing.T) {
	var log, warnings bytes.Buffer
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{slower{cpu.New(cpu.Options{})}}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer rt.Close()
	load(t, rt, serving("", "copy.launch({ size: 1 }, x, y)"), orepl.PipelineOptions{Engine: orepl.EngineOptions{Stderr: &warnings}})
	for name, text := range map[string]string{"log": log.String(), "warnings": warnings.String()} {
		if strings.Count(text, "kernels are interpreted") != 1 {
			t.Errorf("the %s: %s", name, text)
		}
	}
}
