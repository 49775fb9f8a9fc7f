package status

import (
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/activity"
)

// TestWrite writes a table of a script with many devices, its worker, and a process about which little is known.
func TestWrite(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []Process{
		{Job: "7-1", Rank: 0, PID: 10, State: "running", CPU: 1500 * time.Millisecond, Memory: 3 << 20, Work: "run a.js", Activity: &activity.Process{
			Devices: []string{"mpi:1/cpu:0", "mpi:2/cpu:0", "mpi:3/cpu:0", "mpi:4/cpu:0"}, Queues: 4, Commands: 100, Received: 10239, Sent: 20 << 30}},
		{Rank: -1, PID: 11, State: "sleeping", Work: "worker\x1b[31m", Activity: &activity.Process{Devices: []string{"cpu:0"}, Memory: 300 << 20}},
		{Job: "7-1", Rank: 2, PID: 12, State: "ended"},
	})
	want := `JOB  RANK  PROCESS  STATE     CPU    MEMORY  DEVICES                                       QUEUES  COMMANDS  BUFFERS  RECEIVED  SENT    WORK
7-1  0     10       running   1.50s  3 MiB   mpi:1/cpu:0,mpi:2/cpu:0,mpi:3/cpu:0,… 1 more  4       100       0 B      10239 B   20 GiB  run a.js
-    -     11       sleeping  0.00s  0 MiB   cpu:0                                         0       0         300 MiB  0 B       0 B     worker` + "�[31m\n" + `7-1  2     12       ended     0.00s  0 MiB   -                                             -       -         -        -         -       ` + "\n"
	if got := b.String(); err != nil || got != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	b.Reset()
	if err := Write(&b, nil); err != nil || !strings.Contains(b.String(), "no job, worker or script") {
		t.Errorf("%v, %s", err, b.String())
	}
}
