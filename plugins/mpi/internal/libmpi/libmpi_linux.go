//go:build linux && (amd64 || arm64) && !nonative

// Package libmpi binds the system's MPI, Open MPI 3 to 4 or MPICH 3 to 4, without mpi.h or cgo. The launcher's environment
// determines which library is loaded. The package contains the values of handles and the layouts of a status for both, since
// they differ between MPI libraries.
package libmpi

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/job"
)

type function int

const (
	mpiInitThread function = iota
	mpiFinalize
	mpiCommRank
	mpiCommSize
	mpiCommDup
	mpiCommSetErrhandler
	mpiAllgather
	mpiIsend
	mpiIrecv
	mpiIprobe
	mpiTest
	mpiErrorString
	mpiGetLibraryVersion
	numFunctions
)

var functionNames = [numFunctions]string{"MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_dup", "MPI_Comm_set_errhandler",
	"MPI_Allgather", "MPI_Isend", "MPI_Irecv", "MPI_Iprobe", "MPI_Test", "MPI_Error_string", "MPI_Get_library_version"}

// Library is initialized MPI. One goroutine at a time may call its methods. Finalize must run on the thread that called Open.
type Library struct {
	Version    string
	Path       string
	Rank, Size int

	at       [numFunctions]uintptr
	open     bool    // true for Open MPI, whose handles are addresses; MPICH's are 32-bit numbers
	bytes    uintptr // the handle of MPI_BYTE
	comm     uintptr // a duplicate of MPI_COMM_WORLD
	anyRank  int32
	anyTag   int32
	requests uintptr // MPI_REQUEST_NULL
	yields   uintptr // Open MPI's function that sets whether a call without progress yields; 0 for MPICH, and if the user has chosen

	failed []*Request // their memory stays pinned

	// Arguments and results of the current call, kept here to avoid allocations.
	args   [8]uintptr
	flag   int32
	status [6]int32
}

// Open loads and initializes MPI. The caller must have locked its goroutine to a thread.
func Open() (*Library, error) {
	path := "libmpich.so.12"
	if job.Current().Interface == job.OpenMPI {
		path = "libmpi.so.40"
	}
	l := &Library{Path: path}
	for _, name := range []string{"PMI_FD", "HYDI_CONTROL_FD"} { // programs that this process starts must not hold them
		if fd, err := strconv.Atoi(os.Getenv(name)); err == nil {
			unix.CloseOnExec(fd)
		}
	}
	err := process.KeepSignals(func() error {
		// These variables keep MPI libraries from installing signal handlers, and hwloc from loading drivers such as OpenCL's.
		// They also make Open MPI copy through shared memory. Otherwise it would copy from the memory of other processes, and
		// end this process if such a copy fails because the other one has died.
		for name, value := range map[string]string{"UCX_HANDLE_ERRORS": "none", "UCX_ERROR_SIGNALS": "", "UCX_DEBUG_SIGNO": "0", "HWLOC_COMPONENTS": "-opencl,-cuda,-gl,-rsmi,-levelzero", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"} {
			setenv(name, value)
		}
		if folder := sharedMemory(); folder != "" {
			setenv(job.SharedMemoryVariable, folder)
		}
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return err
		}
		for f := range numFunctions {
			if l.at[f], err = purego.Dlsym(handle, functionNames[f]); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return l.initialize(handle)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// setenv sets a variable in the C library's environment, which is separate from Go's, unless Go's has a value for it.
func setenv(name, value string) {
	if os.Getenv(name) != "" {
		return
	}
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return
	}
	n, v := append([]byte(name), 0), append([]byte(value), 0)
	purego.SyscallN(f, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&v[0])), 0)
}

const threadSerialized = 2

func (l *Library) initialize(handle uintptr) error {
	world, errorsReturn := uintptr(0x44000000), uintptr(0x54000001)
	l.bytes, l.requests, l.anyRank, l.anyTag = 0x4c00010d, 0x2c000000, -2, -1
	if at, err := purego.Dlsym(handle, "ompi_mpi_comm_world"); err == nil {
		l.open, world, l.anyRank = true, at, -1
		for name, to := range map[string]*uintptr{"ompi_mpi_errors_return": &errorsReturn, "ompi_mpi_byte": &l.bytes, "ompi_request_null": &l.requests} {
			if *to, err = purego.Dlsym(handle, name); err != nil {
				return err
			}
		}
		if os.Getenv("OMPI_MCA_mpi_yield_when_idle") == "" { // otherwise the user has chosen
			l.yields, _ = purego.Dlsym(handle, "opal_progress_set_yield_when_idle")
		}
	}
	text := make([]byte, 8192)
	var length, provided int32
	l.call(mpiGetLibraryVersion, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&length)))
	l.Version = string(bytes.TrimSpace(bytes.SplitN(text[:min(max(int(length), 0), len(text))], []byte("\n"), 2)[0]))
	if c := l.call(mpiInitThread, 0, 0, threadSerialized, uintptr(unsafe.Pointer(&provided))); c != 0 {
		return fmt.Errorf("MPI_Init_thread of %s: code %d", l.Version, c)
	}
	if provided < threadSerialized {
		return fmt.Errorf("%s does not support threads", l.Version)
	}
	l.call(mpiCommSetErrhandler, world, errorsReturn)
	var comm uintptr
	if c := l.call(mpiCommDup, world, uintptr(unsafe.Pointer(&comm))); c != 0 {
		return l.failure("MPI_Comm_dup", c)
	}
	l.comm = l.handle(comm)
	l.call(mpiCommSetErrhandler, l.comm, errorsReturn)
	var rank, size int32
	l.call(mpiCommRank, l.comm, uintptr(unsafe.Pointer(&rank)))
	l.call(mpiCommSize, l.comm, uintptr(unsafe.Pointer(&size)))
	l.Rank, l.Size = int(rank), int(size)
	if n := job.Current().Size; n != l.Size {
		return fmt.Errorf("the launcher started %d processes, and %s sees %d: the launcher is of another MPI; use mpirun.openmpi with Open MPI (libmpi.so.40), mpirun.mpich with MPICH (libmpich.so.12)",
			n, l.Version, l.Size)
	}
	return nil
}

// handle returns a handle that the library wrote. MPICH's handles have 32 bits.
func (l *Library) handle(h uintptr) uintptr {
	if !l.open {
		h &= 0xffffffff
	}
	return h
}

//go:uintptrescapes
func (l *Library) call(f function, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(l.at[f], args...)
	return int32(r)
}

// callSet calls f with the first n words of args.
func (l *Library) callSet(f function, n int) int32 {
	r, _, _ := purego.SyscallN(l.at[f], l.args[:n]...)
	return int32(r)
}

func (l *Library) failure(what string, code int32) error {
	text := make([]byte, 1024)
	var n int32
	if l.call(mpiErrorString, uintptr(code), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&n))) != 0 || n <= 0 {
		return fmt.Errorf("%s: code %d", what, code)
	}
	return fmt.Errorf("%s: %s", what, text[:min(int(n), len(text))])
}

// Gather returns the bytes of all processes in the order of ranks. All of them must call it, with the same number of bytes, at least one.
func (l *Library) Gather(mine []byte) ([]byte, error) {
	all, n := make([]byte, l.Size*len(mine)), uintptr(len(mine))
	c := l.call(mpiAllgather, uintptr(unsafe.Pointer(&mine[0])), n, l.bytes, uintptr(unsafe.Pointer(&all[0])), n, l.bytes, l.comm)
	if c != 0 {
		return nil, l.failure("MPI_Allgather", c)
	}
	return all, nil
}

// Request is a message in flight.
type Request struct {
	data   []byte
	pinned runtime.Pinner
	handle uintptr
}

func (r *Request) pin(data []byte) uintptr {
	r.data = data
	if len(data) == 0 {
		return 0
	}
	r.pinned.Pin(&data[0])
	return uintptr(unsafe.Pointer(&data[0]))
}

// Send starts to send a message. data must not change before Done returns true.
func (l *Library) Send(data []byte, rank, tag int) (*Request, error) {
	r := &Request{handle: l.requests}
	at := r.pin(data)
	l.args = [8]uintptr{at, uintptr(len(data)), l.bytes, uintptr(rank), uintptr(tag), l.comm, uintptr(unsafe.Pointer(&r.handle))}
	if c := l.callSet(mpiIsend, 7); c != 0 {
		r.pinned.Unpin()
		return nil, l.failure("MPI_Isend", c)
	}
	return r, nil
}

// Receive starts to receive a message that Probe or ProbeFor found into data, which must not be used before Done returns true.
func (l *Library) Receive(data []byte, rank, tag int) (*Request, error) {
	r := &Request{handle: l.requests}
	at := r.pin(data)
	l.args = [8]uintptr{at, uintptr(len(data)), l.bytes, uintptr(rank), uintptr(tag), l.comm, uintptr(unsafe.Pointer(&r.handle))}
	if c := l.callSet(mpiIrecv, 7); c != 0 {
		r.pinned.Unpin()
		return nil, l.failure("MPI_Irecv", c)
	}
	return r, nil
}

// Done reports whether a request has completed. It returns true with an error, too.
func (l *Library) Done(r *Request) (bool, error) {
	l.args = [8]uintptr{uintptr(unsafe.Pointer(&r.handle)), uintptr(unsafe.Pointer(&l.flag)), uintptr(unsafe.Pointer(&l.status))}
	if c := l.callSet(mpiTest, 3); c != 0 {
		l.failed = append(l.failed, r) // MPI may still access its memory
		return true, l.failure("MPI_Test", c)
	}
	if l.flag != 0 {
		r.pinned.Unpin()
	}
	return l.flag != 0, nil
}

// Probe returns the source, tag and size of the next message. ok is false if there is none.
func (l *Library) Probe() (rank, tag, size int, ok bool, err error) {
	return l.probe(l.anyRank, l.anyTag)
}

// ProbeFor is Probe for messages with this source and tag.
func (l *Library) ProbeFor(rank, tag int) (size int, ok bool, err error) {
	_, _, size, ok, err = l.probe(int32(rank), int32(tag))
	return size, ok, err
}

func (l *Library) probe(from, with int32) (rank, tag, size int, ok bool, err error) {
	l.args = [8]uintptr{uintptr(uint32(from)), uintptr(uint32(with)), l.comm, uintptr(unsafe.Pointer(&l.flag)), uintptr(unsafe.Pointer(&l.status))}
	if c := l.callSet(mpiIprobe, 5); c != 0 {
		return 0, 0, 0, false, l.failure("MPI_Iprobe", c)
	}
	if l.flag == 0 {
		return 0, 0, 0, false, nil
	}
	status := &l.status
	if l.open { // source, tag, error, cancelled, 64-bit count
		return int(status[0]), int(status[1]), int(uint32(status[4])), true, nil
	}
	if status[1]&^1 != 0 { // in the high half of the count, the low bit means cancelled
		return 0, 0, 0, false, errors.New("a message is too long")
	}
	return int(status[2]), int(status[3]), int(status[0]), true, nil
}

// Poll tells Open MPI not to yield the core in each call that finds nothing, as it does by default where processes outnumber cores.
// The caller then yields itself. It has no effect if the variable OMPI_MCA_mpi_yield_when_idle is set.
func (l *Library) Poll() { l.setYields(0) }

func (l *Library) setYields(on uintptr) {
	if l.yields != 0 {
		purego.SyscallN(l.yields, on)
	}
}

// Finalize finalizes MPI. It is collective.
func (l *Library) Finalize() error {
	l.setYields(1) // it waits in a loop
	if c := l.call(mpiFinalize); c != 0 {
		return l.failure("MPI_Finalize", c)
	}
	return nil
}
