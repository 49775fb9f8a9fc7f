package status

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

// Process is a process of a job of orepl mpirun on this machine.
type Process struct {
	Job    string // identifies the job among those of this machine: process of orepl mpirun, and a number
	Rank   int
	PID    int
	Work   string        // the command's arguments, such as "worker"
	State  string        // "running", "sleeping", "stopped" or "ended"
	CPU    time.Duration // used so far
	Memory int64         // resident bytes
}

// Processes returns the processes of the jobs that orepl mpirun has started on this machine and that run, by job and rank. Those of other
// users are not among them, nor those on other machines.
func Processes() (list []Process) {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), job.FilesGlob))
	for _, dir := range folders {
		path := filepath.Join(dir, "status")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if lock, err := lockFolder(dir); err == nil { // left by a command that was killed
			_ = lock.Close()
			continue
		}
		r := Read(path)
		name := strings.TrimPrefix(filepath.Base(dir), strings.TrimSuffix(job.FilesGlob, "*"))
		for pid, rank := range r.Ranks {
			p := Process{Job: name, Rank: rank, PID: pid, State: "ended"}
			if !r.Ended[pid] {
				p.look()
			}
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(strings.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.PID, b.PID))
	})
	return list
}
