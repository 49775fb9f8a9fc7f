//go:build !linux

package isolate

import (
	"os"

	"github.com/orepl/orepl/lang/diag"
)

// Memory is memory that a host shares with one child. There is none on this system.
type Memory struct{ file *os.File }

// NewMemory returns an error.
func NewMemory() (*Memory, error) {
	return nil, diag.New("unsupported", "memory that is shared with an isolated process needs Linux").
		WithHint("run the pipeline without Isolate")
}

func openMemory(int) *Memory { return nil }

// Bytes returns an error.
func (m *Memory) Bytes(int) ([]byte, error) { return nil, os.ErrInvalid }

// Size returns an error.
func (m *Memory) Size() (int, error) { return 0, os.ErrInvalid }

// Settle does nothing.
func (m *Memory) Settle() {}

// Close does nothing.
func (m *Memory) Close() error { return nil }
