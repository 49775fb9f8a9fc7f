package mpi

import (
	"errors"
	"os"
	"time"

	"github.com/orepl/orepl/runtime/fatal"
	"github.com/orepl/orepl/runtime/job"
)

// launcherLook is the interval of looks at the launcher's process.
const launcherLook = 500 * time.Millisecond

// EndWithLauncher makes this process end by [fatal.End] soon after its launcher, or the orepl mpirun that started the launcher, has
// ended. A script whose launcher was killed would run on otherwise. The folders of the job are removed first. If [Launched] is false,
// as in a job of one process, EndWithLauncher does nothing.
func EndWithLauncher() {
	parent, command := os.Getppid(), job.Command()
	if !Launched() {
		return
	}
	go func() {
		for os.Getppid() == parent && (command == 0 || job.Runs(command)) {
			time.Sleep(launcherLook)
		}
		job.RemoveFiles()
		fatal.End(errors.New("the launcher of the MPI job has ended"))
	}()
}
