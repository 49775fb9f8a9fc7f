package status

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Indices of fields in /proc/PID/stat, counted from the field after the program's name, and the unit of times there.
const (
	stateField  = 0
	userField   = 11
	systemField = 12
	memoryField = 21
	tick        = time.Second / 100
)

// look reads the state, times, memory and arguments of the process from /proc. It changes nothing for a process that has ended.
func (p *Process) look() {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if err != nil || len(fields) <= memoryField {
		return
	}
	number := func(field int) int64 {
		n, _ := strconv.ParseInt(fields[field], 10, 64)
		return n
	}
	switch fields[stateField] {
	case "Z", "X":
		return
	case "T", "t":
		p.State = "stopped"
	case "R":
		p.State = "running"
	default:
		p.State = "sleeping"
	}
	p.CPU = time.Duration(number(userField)+number(systemField)) * tick
	p.Memory = number(memoryField) * int64(os.Getpagesize())
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	if words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"); len(words) > 1 {
		p.Work = strings.Join(words[1:], " ")
	}
}

// environ returns the environment variables of a process, each ended by a zero byte.
func environ(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // empty for a process that has ended
	return string(data)
}
