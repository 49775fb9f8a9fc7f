//go:build (amd64 || arm64) && !nonative

package libmpi

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/runtime/job"
)

// rtldNoLoad makes dlopen return only a library that is loaded.
const rtldNoLoad = 4

// abortCode is the exit code of a job that ends before it is connected.
const abortCode = 107

// Abort asks srun to end the job, whose processes on other machines would wait for this one. It does nothing under launchers
// that end a job themselves, and before MPI has loaded PMIx. It may not return: its caller must not wait for it long.
func Abort(reason string) {
	if j := job.Current(); !j.Slurm || j.Interface != job.OpenMPI {
		return
	}
	handle, err := purego.Dlopen("libpmix.so.2", purego.RTLD_NOW|rtldNoLoad)
	if err != nil || handle == 0 {
		return
	}
	abort, err := purego.Dlsym(handle, "PMIx_Abort")
	if err != nil {
		return
	}
	text := append([]byte(reason), 0)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&text[0])
	purego.SyscallN(abort, abortCode, uintptr(unsafe.Pointer(&text[0])), 0, 0)
}
