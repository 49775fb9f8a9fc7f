// Package members finds the processes of an MPI job on this machine.
package members

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/orepl/orepl/runtime/job"
)

// Member is a rank of the job that has processes on this machine.
type Member struct {
	PIDs    []int
	Stopped bool // a signal or a debugger has stopped one of them
	Traced  bool // a debugger has
}

// process is a process of this machine.
type process struct {
	parent  int
	stopped bool
	traced  bool
	rank    int // noRank outside of jobs
}

// noRank is the rank of a process outside of jobs, and of one whose environment the system does not show.
const noRank = -1

// Local returns the ranks of this job that have processes on this machine. ok is false if the processes cannot be read, or the
// launcher is not among them.
func Local() (members map[int]Member, ok bool) {
	all, err := processes()
	if err != nil {
		return nil, false
	}
	mine := launcher(all, os.Getpid())
	if mine == 0 {
		return nil, false
	}
	members = map[int]Member{}
	for pid, p := range all {
		if p.rank == noRank || launcher(all, pid) != mine {
			continue
		}
		m := members[p.rank]
		m.PIDs = append(m.PIDs, pid)
		m.Stopped, m.Traced = m.Stopped || p.stopped, m.Traced || p.traced
		members[p.rank] = m
	}
	return members, true
}

// Running reports whether a process has not ended. It returns false, too, if the system does not show the process.
func Running(pid int) bool {
	p, err := read(filepath.Join("/proc", strconv.Itoa(pid)))
	return p != nil && err == nil
}

// launcher returns the process that started a process of a job: its nearest ancestor outside of jobs. It returns 0 if the system
// does not show it.
func launcher(all map[int]process, pid int) int {
	for range len(all) {
		p, ok := all[pid]
		if !ok {
			return 0
		}
		if p.rank == noRank {
			return pid
		}
		pid = p.parent
	}
	return 0
}

// processes returns the processes of this machine that have not ended.
func processes() (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := read(filepath.Join("/proc", e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case p != nil:
			all[pid] = *p
		}
	}
	return all, nil
}

// status returns the state of the process of a folder, as a letter of the manual page proc(5), and its parent. The state is empty if the
// system shows none.
func status(folder string) (state string, parent int, err error) {
	data, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return "", 0, gone(err)
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // after the program's name: state, parent
	if len(fields) < 2 {
		return "", 0, nil
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return string(fields[0]), parent, err
}

// read returns the process of a folder. If the process has ended, it returns nil, with or without fs.ErrNotExist.
func read(folder string) (*process, error) {
	state, parent, err := status(folder)
	if err != nil || slices.Contains([]string{"", "Z", "X"}, state) {
		return nil, err
	}
	p := &process{rank: noRank, parent: parent, stopped: state == "T" || state == "t", traced: state == "t"}
	environ, err := os.ReadFile(filepath.Join(folder, "environ"))
	if errors.Is(err, fs.ErrPermission) { // of another user, such as a launcher's
		return p, nil
	}
	if err != nil {
		return nil, gone(err)
	}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := bytes.Cut(variable, []byte("="))
		if n, err := strconv.Atoi(string(value)); err == nil && slices.Contains(job.RankVariables, string(name)) {
			p.rank = n
		}
	}
	return p, nil
}

// gone returns fs.ErrNotExist for the error of a process that ended while it was read, and another error unchanged.
func gone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return fs.ErrNotExist
	}
	return err
}
