package pool_test

import (
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/session"
)

// named is a plugin with another name.
type named struct {
	offload.Plugin
	name string
}

func (n named) Name() string { return n.name }

// TestDistinct checks which devices remain of processes that offer their processor by two plugins: this one, a single worker and two
// workers with numbers.
func TestDistinct(t *testing.T) {
	two := func() []offload.Plugin {
		return []offload.Plugin{cpu.New(cpu.Options{Devices: 2}), named{cpu.New(cpu.Options{}), "twin"}}
	}
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		go func() { _ = remote.Serve(context.Background(), there, two()...) }() // ends with the session
		return here, nil
	}
	workers := remote.NewCluster("far", func(context.Context) ([]remote.Peer, error) {
		return []remote.Peer{{Name: "0", Dial: dial}, {Name: "1", Dial: dial}}, nil
	})
	s := session.Open(session.Options{Plugins: append(two(), remote.NewPlugin("one", dial), workers)})
	all := s.Devices(t.Context())
	var ids []string
	for _, d := range pool.Distinct(all) {
		ids = append(ids, d.ID())
	}
	slices.Sort(ids)
	if got, want := strings.Join(ids, " "), "cpu:0 cpu:1 far:0/cpu:0 far:0/cpu:1 far:1/cpu:0 far:1/cpu:1 one:cpu:0 one:cpu:1"; got != want || len(all) != 12 {
		t.Errorf("of %d devices there remain %s, want %s", len(all), got, want)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
