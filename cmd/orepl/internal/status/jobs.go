package status

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/job"
)

// Process is a process of a job of orepl mpirun on this machine, or one that uses or offers devices.
type Process struct {
	Job    string // process of orepl mpirun and a number, or the job of Slurm; empty if there is none
	Rank   int    // -1 without a launcher
	PID    int
	Work   string        // the command's arguments, such as "worker"
	State  string        // "running", "sleeping", "stopped" or "ended"; only on Linux, else "ended" or "unknown"
	CPU    time.Duration // used so far
	Memory int64         // resident bytes

	Activity *activity.Process // nil if unknown
}

// Processes returns the processes of this machine's running jobs, and other workers and scripts with workers, by job and rank. Those of
// other users are not among them.
func Processes() []Process {
	found := map[int]*activity.Process{}
	for _, p := range activity.Find() {
		found[p.PID] = &p
	}
	list := started()
	for i := range list {
		list[i].Activity = found[list[i].PID]
		delete(found, list[i].PID)
	}
	for pid, a := range found {
		p := Process{PID: pid, State: "ended", Activity: a}
		p.look()
		p.Job, p.Rank = launched(pid)
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(strings.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// started returns the processes, also ended ones, of running jobs that orepl mpirun has started.
func started() (list []Process) {
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
	return list
}

// launched returns the job of Slurm that a process is part of, and its rank, from the variables of its launcher. Without Slurm
// the name is "", and without a launcher the rank is -1.
func launched(pid int) (name string, rank int) {
	variables := map[string]string{}
	for v := range strings.SplitSeq(environ(pid), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
	}
	if id := variables["SLURM_JOB_ID"]; id != "" {
		name = "slurm-" + id
	}
	if id := variables["SLURM_ARRAY_JOB_ID"]; id != "" {
		name = "slurm-" + id + "_" + variables["SLURM_ARRAY_TASK_ID"]
	}
	for _, v := range job.RankVariables {
		if rank, err := strconv.Atoi(variables[v]); err == nil {
			return name, rank
		}
	}
	return name, -1
}
