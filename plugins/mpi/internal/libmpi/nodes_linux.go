package libmpi

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sharedMemory returns a folder for Open MPI's shared memory if several Slurm nodes are on this machine, otherwise "" for the
// usual folder. In the usual one, the files of all these nodes would have the same name, that of the machine. Slurm removes the
// folder after the step.
func sharedMemory() string {
	folder, node := os.Getenv("PMIX_SERVER_TMPDIR"), os.Getenv("SLURMD_NODENAME")
	host, err := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	if folder == "" || node == "" || err != nil || node == host || !manyNodes() {
		return ""
	}
	return folder
}

// manyNodes reports whether several of Slurm's daemons for nodes run on this machine.
func manyNodes() bool {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return false
	}
	daemons, parents := map[int]bool{}, map[int]int{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		first, last := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		if err != nil || first < 0 || last < first || string(text[first+1:last]) != "slurmd" {
			continue // it has ended, or is another program
		}
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		fields := bytes.Fields(text[last+1:]) // state, parent
		if err1 != nil || len(fields) < 2 {
			continue
		}
		daemons[pid] = true
		parents[pid], _ = strconv.Atoi(string(fields[1])) // 0 is no daemon
	}
	many := 0
	for pid := range daemons {
		if !daemons[parents[pid]] { // a child is about to become a step
			many++
		}
	}
	return many > 1
}
