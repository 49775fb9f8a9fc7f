package hostfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// slow is a file whose reads wait until it is closed.
type slow struct {
	offload.File
	closed chan struct{}
	once   sync.Once
}

func (s *slow) Read([]byte) (int, error) {
	<-s.closed
	return 0, os.ErrClosed
}

func (s *slow) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.File.Close()
}

// TestTooManyRequests serves requests that a server never sends.
func TestTooManyRequests(t *testing.T) {
	serve := func(table *Table, m *protocol.FileRequest) error {
		return table.Serve(m, func(*protocol.FileRequest) (Services, error) { return Services{}, os.ErrPermission }, func(*protocol.FileAnswer) {})
	}
	for name, m := range map[string]*protocol.FileRequest{
		"operation": {Op: protocol.RenameFile + 1}, "empty read": {Op: protocol.ReadFile},
		"large read": {Op: protocol.ReadFile, Offset: protocol.MaxFragment + 1}, "whence": {Op: protocol.SeekFile, Whence: 3},
	} {
		if err := serve(new(Table), m); err == nil {
			t.Errorf("%s is served", name)
		}
	}
	opened, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	var table Table
	number, err := table.add(&slow{File: opened, closed: make(chan struct{})})
	if err != nil {
		t.Fatal(err)
	}
	for i := range MaxCalls + 1 {
		if err := serve(&table, &protocol.FileRequest{Op: protocol.ReadFile, File: number, Offset: 1}); (err != nil) != (i == MaxCalls) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	table.End()
	late, err := os.Create(filepath.Join(t.TempDir(), "late"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.add(late); offload.CodeOf(err) != offload.OutOfResources {
		t.Errorf("a file is opened after the end: %v", err)
	}
	if err := late.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the late file is open: %v", err)
	}
}
