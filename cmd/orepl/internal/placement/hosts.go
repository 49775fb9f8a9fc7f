// Package placement assigns the processes of an MPI job to machines, and the accelerators of a machine to its processes.
package placement

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Host is a machine of a job.
type Host struct {
	Name  string
	Slots int // processes that it takes before the next machine does
}

// ParseHosts parses names of machines between commas. A number of slots may follow a name: a:2,b. Without one it is 1. A
// machine that is listed twice is an error.
func ParseHosts(text string) (list []Host, err error) {
	for part := range strings.SplitSeq(text, ",") {
		h, err := parseHost(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Host) bool { return other.Name == h.Name }) {
			return nil, fmt.Errorf("the host %s is listed twice: write %[1]s:2 for two processes", h.Name)
		}
		list = append(list, h)
	}
	return list, nil
}

// ReadHosts reads a file of one machine per line: a, a:2 as MPICH writes it, or a slots=2 as Open MPI does. # begins a comment,
// and max_slots is ignored. A file without a machine is an error.
func ReadHosts(path string) (list []Host, err error) {
	data, err := os.ReadFile(path)
	var why *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %q", path)
	case errors.As(err, &why):
		return nil, fmt.Errorf("%s cannot be read: %v", path, why.Err)
	case err != nil:
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		text, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		for _, f := range fields[1:] {
			if slots, ok := strings.CutPrefix(f, "slots="); ok && !strings.Contains(fields[0], ":") {
				fields[0] += ":" + slots
			} else if !strings.HasPrefix(f, "max_slots=") && !strings.HasPrefix(f, "max-slots=") {
				return nil, fmt.Errorf("%s:%d: %q is unknown: write a name, name:2 or name slots=2", path, number, f)
			}
		}
		h, err := parseHost(fields[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s lists no host", path)
	}
	return list, nil
}

// parseHost parses a name, which a number of slots may follow.
func parseHost(text string) (Host, error) {
	name, slots, some := strings.Cut(text, ":")
	h := Host{name, 1}
	if some {
		n, err := strconv.Atoi(slots)
		if err != nil || n < 1 {
			return h, fmt.Errorf("%q has no number of processes behind the colon", text)
		}
		h.Slots = n
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t=/") {
		return h, fmt.Errorf("%q is no name of a host", text)
	}
	return h, nil
}

// Spread returns the machines with the numbers of processes that they take. Each takes its slots in turn, again and again until
// n processes have a place. Machines without a process are left out.
func Spread(hosts []Host, n int) (list []Host) {
	counts := make([]int, len(hosts))
	for n > 0 && len(hosts) > 0 {
		for i, h := range hosts {
			take := min(n, h.Slots)
			counts[i] += take
			n -= take
		}
	}
	for i, h := range hosts {
		if counts[i] > 0 {
			list = append(list, Host{h.Name, counts[i]})
		}
	}
	return list
}

// List returns machines in the form that launchers read, such as a:2,b:1.
func List(hosts []Host) string {
	parts := make([]string, len(hosts))
	for i, h := range hosts {
		parts[i] = fmt.Sprintf("%s:%d", h.Name, h.Slots)
	}
	return strings.Join(parts, ",")
}
