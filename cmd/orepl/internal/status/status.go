// Package status is the file by which the processes of an MPI job on one machine tell orepl mpirun how they begin and end.
//
// Launchers print messages about exit codes other than 0, or lose them. MPICH's may kill the processes that would report the loss of
// another one.
//
// Each line of the file is one of these:
//
//	begun RANK PID   a process of the job runs
//	ended PID        it ends by itself
//	CODE             the exit code of a script
//	CODE lost        the same, of one that lost another process
//	lost             a worker has lost another process
//	unreachable HOST the command by which the launcher reaches a machine failed
package status

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/job"
)

// lost marks the status of a process that lost another one.
const lost = "lost"

// unreachable is before the name of a machine that the launcher did not reach.
const unreachable = "unreachable"

// Begin tells orepl mpirun that this process of its job runs. In any other process it does nothing.
func Begin() {
	if os.Getenv(job.StatusVariable) == "" || !mpi.Launched() {
		return
	}
	for _, name := range job.RankVariables {
		if rank := os.Getenv(name); rank != "" {
			_ = add(fmt.Sprintf("begun %s %d", rank, os.Getpid())) // without it, a loss is only reported by other processes
			return
		}
	}
}

// HandOver tells orepl mpirun the exit code of a script and returns 0, the code that the launcher is to see. For other
// commands, and without the file, it returns code. A worker also reports that it lost a process.
func HandOver(code int) int {
	if os.Getenv(job.StatusVariable) == "" || len(os.Args) < 2 || !mpi.Launched() {
		return code
	}
	lines := []string{fmt.Sprintf("ended %d", os.Getpid())}
	script := os.Args[1] == "run"
	text := ""
	if script {
		text = strconv.Itoa(code)
	}
	if mpi.Lost() {
		text = strings.TrimSpace(text + " " + lost)
	}
	if text != "" {
		lines = append(lines, text)
	}
	if err := add(strings.Join(lines, "\n")); err != nil || !script {
		return code
	}
	return 0
}

// add appends lines to the file, which does not exist on other machines than that of orepl mpirun.
func add(lines string) error {
	f, err := os.OpenFile(os.Getenv(job.StatusVariable), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lines + "\n")
	return errors.Join(err, f.Close())
}

// Report is the content of the file.
type Report struct {
	Codes []int        // of scripts that ended
	Lost  bool         // a process lost another one
	Told  bool         // a script lost another process
	Ranks map[int]int  // ranks of the processes that have begun, by process number
	Ended map[int]bool // processes that ended by themselves
	Cut   []string     // machines that the launcher did not reach, or no longer reaches
}

// Read reads the complete lines of the file. For a file that cannot be read, the report is empty.
func Read(path string) Report {
	r := Report{Ranks: map[int]int{}, Ended: map[int]bool{}}
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		text, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break
		}
		var rank, pid int
		if n, _ := fmt.Sscanf(text, "begun %d %d", &rank, &pid); n == 2 {
			r.Ranks[pid] = rank
			continue
		}
		if n, _ := fmt.Sscanf(text, "ended %d", &pid); n == 1 {
			r.Ended[pid] = true
			continue
		}
		if host, ok := strings.CutPrefix(text, unreachable+" "); ok {
			r.Cut = append(r.Cut, host)
			continue
		}
		text, loss := strings.CutSuffix(text, lost)
		r.Lost = r.Lost || loss
		if code, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			r.Told = r.Told || loss
			r.Codes = append(r.Codes, code)
		}
	}
	return r
}

// Killed is a process of the job that did not end by itself.
type Killed struct{ Rank, PID int }

// Error names the process.
func (k *Killed) Error() string {
	return fmt.Sprintf("mpi: rank %d is lost: its process %d ended before it had a status [device-lost]", k.Rank, k.PID)
}
