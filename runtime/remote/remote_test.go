package remote_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// inMemory connects to a server of its own in this process, whose plugin is the CPU's.
func inMemory(t testing.TB, opts cpu.Options) remote.Dial {
	return func(context.Context) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		go func() {
			if err := remote.Serve(context.Background(), there, cpu.New(opts)); err != nil {
				t.Errorf("the server ended: %v", err)
			}
		}()
		return here, nil
	}
}

// TestConformance runs the conformance suite on devices whose every object and command passes through bytes.
func TestConformance(t *testing.T) {
	match := func(name string) bool { return !testing.Short() || name != "copy/256-mib" }
	plugin := remote.NewPlugin("pipe", inMemory(t, cpu.Options{Devices: 2}))
	_, err := conform.Run(t.Context(), plugin, "pipe:cpu:0", conform.Options{Match: match, Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			switch text := strings.Join(r.Output, "\n"); r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
			t.Log(r.Elapsed)
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
}

var _ offload.Plugin = remote.NewPlugin("", nil)
