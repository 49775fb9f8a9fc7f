//go:build !(linux && (amd64 || arm64)) || nonative

package libmpi

import (
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Library is unavailable in this build.
type Library struct {
	Version, Path string
	Rank, Size    int
}

// Request is unavailable in this build.
type Request struct{}

var errPlatform = errors.New(process.Lacking("MPI is used on Linux, on x86-64 and arm64"))

// Abort does nothing in this build.
func Abort(string) {}

// Open returns an error in this build, as do all methods that can.
func Open() (*Library, error) { return nil, errPlatform }

func (*Library) Gather([]byte) ([]byte, error)                    { return nil, errPlatform }
func (*Library) Send([]byte, int, int) (*Request, error)          { return nil, errPlatform }
func (*Library) Receive([]byte, int, int) (*Request, error)       { return nil, errPlatform }
func (*Library) Done(*Request) (bool, error)                      { return true, errPlatform }
func (*Library) Probe() (rank, tag, size int, ok bool, err error) { return 0, 0, 0, false, errPlatform }

// ProbeFor returns an error in this build.
func (*Library) ProbeFor(rank, tag int) (size int, ok bool, err error) { return 0, false, errPlatform }

// Poll does nothing in this build.
func (*Library) Poll() {}

// Finalize returns an error in this build.
func (*Library) Finalize() error { return errPlatform }
