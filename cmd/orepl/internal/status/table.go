package status

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/runtime/activity"
)

// Write writes a table of processes, or a line that says that there are none.
func Write(w io.Writer, list []Process) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no job, worker or script with workers runs on this machine")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tRANK\tPROCESS\tSTATE\tCPU\tMEMORY\tDEVICES\tQUEUES\tCOMMANDS\tBUFFERS\tRECEIVED\tSENT\tWORK")
	for _, p := range list {
		rank := strconv.Itoa(p.Rank)
		if p.Rank < 0 {
			rank = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%.2fs\t%d MiB\t", cmp.Or(p.Job, "-"), rank, p.PID, p.State, p.CPU.Seconds(), p.Memory>>20)
		if a := p.Activity; a == nil {
			fmt.Fprint(t, "-\t-\t-\t-\t-\t-\t")
		} else {
			fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t", deviceList(a), a.Queues, a.Commands, byteCount(a.Memory), byteCount(a.Received), byteCount(a.Sent))
		}
		fmt.Fprintf(t, "%s\n", printable.Line(p.Work))
	}
	return t.Flush()
}

// shownDevices is the maximum number of devices of a process that the table of jobs names.
const shownDevices = 3

// deviceList returns the names of a process's devices, or of the first ones and the number of the others.
func deviceList(a *activity.Process) string {
	list := a.Devices
	text := strings.Join(list[:min(len(list), shownDevices)], ",")
	switch more := len(list) - shownDevices; {
	case len(list) == 0:
		return "-"
	case more > 0 && a.More:
		text += fmt.Sprintf(",… over %d more", more)
	case more > 0:
		text += fmt.Sprintf(",… %d more", more)
	}
	return printable.Line(text)
}

// byteCount returns a number of bytes as text, in a unit in which it has two digits or more. Fewer than ten bytes have one
// digit.
func byteCount(n int64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if n < 10<<10 || unit == "GiB" {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n >>= 10
	}
	return ""
}
