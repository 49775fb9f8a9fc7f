package graph_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/graph"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// TestDependencies captures copies between parts of buffers, and checks on which of the others each depends.
func TestDependencies(t *testing.T) {
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer s.Close(context.Background())
	d, err := s.Device(t.Context(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	var buffers []*session.Buffer
	for range 3 {
		b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{8}})
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	view := func(b *session.Buffer, start int64) *session.Buffer {
		v, err := b.View(session.ViewOptions{Start: start, Dims: []int{4}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x, y, z := buffers[0], buffers[1], buffers[2]
	c := graph.Begin(s, 0)
	for _, err := range []error{
		q.Write(x, 0, []byte{1, 2, 3, 4}), // 0
		q.Write(x, 4, []byte{5, 6, 7, 8}), // 1: another part
		q.Copy(view(y, 0), view(x, 0)),    // 2: reads the part of 0
		q.Copy(view(y, 4), view(x, 4)),    // 3: reads the part of 1
		q.Copy(z, x),                      // 4: reads what 0 and 1 wrote
		q.Fill(x, []byte{9}),              // 5: overwrites what 2, 3 and 4 read
		q.Copy(z, y),                      // 6: overwrites what 4 wrote, reads what 2 and 3 wrote
		q.Read(make([]byte, 8), z, 0),     // not captured
		q.WriteRect(x, session.Rect{Origin: []int{2}, Extent: []int{2}}, []byte{1, 1}), // 7: after 5
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	want := [][]int{{}, {}, {0}, {1}, {0, 1}, {2, 3, 4}, {2, 3, 4}, {5}}
	if len(g.Nodes()) != len(want) {
		t.Fatal(g)
	}
	for i, n := range g.Nodes() {
		if len(n.After) != len(want[i]) {
			t.Errorf("node %d depends on %v, not %v", i, n.After, want[i])
			continue
		}
		for k := range want[i] {
			if n.After[k] != want[i][k] {
				t.Errorf("node %d depends on %v, not %v", i, n.After, want[i])
			}
		}
	}
	if err := q.Fill(z, []byte{0}); err != nil {
		t.Fatal(err)
	}
	ev, err := g.Replay(t.Context())
	if err == nil {
		err = ev.Sync(t.Context())
	}
	data := make([]byte, 16)
	for i, b := range []*session.Buffer{x, z} {
		if err == nil {
			err = q.Read(data[8*i:][:8], b, 0)
		}
	}
	if err == nil {
		err = q.Sync(t.Context())
	}
	if err != nil || string(data) != "\x09\x09\x01\x01\x09\x09\x09\x09\x01\x02\x03\x04\x05\x06\x07\x08" {
		t.Errorf("%v %v", err, data)
	}
	if svg, err := g.SVG(); err != nil || strings.Count(svg, "<rect") != 9 {
		t.Errorf("%v %s", err, svg)
	} else if file := os.Getenv("OREPL_TEST_PICTURE"); file != "" {
		if err := os.WriteFile(file, []byte(svg), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
