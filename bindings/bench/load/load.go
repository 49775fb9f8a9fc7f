// Package load measures which share of the processors' time other programs use, from what Linux counts.
package load

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Meter measures the share of other programs from the call of [Begin] on.
type Meter struct {
	read  func(path string) string
	pid   int
	begun ticks
}

// ticks are clock ticks of processors.
type ticks struct{ total, busy, own float64 }

// Begin returns a meter that measures from now on.
func Begin() *Meter {
	m := &Meter{read: readText, pid: os.Getpid()}
	m.begun = m.ticks()
	return m
}

// readText returns the text of a file, or "" if it cannot be read.
func readText(path string) string {
	data, _ := os.ReadFile(path) // processes end while their files are read
	return string(data)
}

// Share returns the share of processor time that other programs have used since Begin, from 0 to 1. It counts the processors
// that this process may use. Processes that this one started are not others. The share is 0 where the system does not tell it.
func (m *Meter) Share() float64 {
	now := m.ticks()
	total := now.total - m.begun.total
	if total <= 0 {
		return 0
	}
	others := now.busy - m.begun.busy - max(now.own-m.begun.own, 0)
	return min(max(others/total, 0), 1)
}

// enough is the number of ticks from which on a share is meaningful: a fifth of a second of one processor.
const enough = 20

// Known returns the share, and whether the processors had enough ticks since the beginning for it.
func (m *Meter) Known() (share float64, known bool) {
	if m.ticks().total-m.begun.total < enough {
		return 0, false
	}
	return m.Share(), true
}

// ticks returns the ticks since the system began: of the processors that this process may use, and of this process with those
// that it started.
func (m *Meter) ticks() (t ticks) {
	allowed := m.allowed()
	for line := range strings.Lines(m.read("/proc/stat")) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !allowed[strings.TrimPrefix(fields[0], "cpu")] {
			continue
		}
		// The fields are user, nice, system, idle, iowait, irq, softirq, steal; user includes guests.
		for i, field := range fields[1:9] {
			n, _ := strconv.ParseFloat(field, 64) // a field of another form counts nothing
			t.total += n
			if i != 3 && i != 4 {
				t.busy += n
			}
		}
	}
	t.own = m.own()
	return t
}

// allowed returns the numbers of the processors that this process may use.
func (m *Meter) allowed() map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(m.read("/proc/self/status")) {
		list, ok := strings.CutPrefix(line, "Cpus_allowed_list:")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
			first, last, ranged := strings.Cut(part, "-")
			if !ranged {
				last = first
			}
			from, _ := strconv.Atoi(first)
			to, _ := strconv.Atoi(last)
			for i := from; i <= to; i++ {
				found[strconv.Itoa(i)] = true
			}
		}
	}
	return found
}

// own returns the ticks of this process and of those that it started, also of those that have ended.
func (m *Meter) own() (sum float64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	parents, times := map[int]int{}, map[int]float64{}
	for _, path := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[pid], times[pid] = process(m.read(path))
	}
	for pid, time := range times {
		for at, steps := pid, 0; at > 1 && steps < len(parents); at, steps = parents[at], steps+1 {
			if at == m.pid {
				sum += time
				break
			}
		}
	}
	return sum
}

// process returns the parent of a process and the ticks of it and of its children that have ended, from its file stat.
func process(stat string) (parent int, ticks float64) {
	_, rest, _ := strings.Cut(stat[max(strings.LastIndexByte(stat, ')'), 0):], ")") // names may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseFloat(field, 64)
		ticks += n
	}
	return parent, ticks
}
