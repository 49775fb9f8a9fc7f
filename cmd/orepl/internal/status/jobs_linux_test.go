package status

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

// TestProcesses lists a job with a process that is stopped, one that has ended by itself and one that was killed. It lists none of a command
// that was killed.
func TestProcesses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	files, err := NewFiles()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for range 2 {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		pids = append(pids, cmd.Process.Pid)
	}
	if err := syscall.Kill(pids[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("begun 1 %d\nbegun 0 %d\nbegun 2 %d\nbegun 3 %d\nended %d\n", pids[0], os.Getpid(), pids[1], 1, 1)
	if err := os.WriteFile(files.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(files.Path)), strings.TrimSuffix(job.FilesGlob, "*"))
	processes := func() []Process { // without those of other commands of this user
		return slices.DeleteFunc(Processes(), func(p Process) bool { return p.Job != name })
	}
	states := func() (list []string) {
		for i, p := range processes() {
			if p.Rank != i {
				t.Errorf("%+v", p)
			}
			list = append(list, p.State+" "+p.Work)
		}
		return list
	}
	var got []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if got = states(); len(got) == 4 && got[1] == "stopped 600" && got[2] == "ended " && got[3] == "ended " {
			break
		}
	}
	list := processes()
	if len(got) != 4 || got[1] != "stopped 600" || got[2] != "ended " || got[3] != "ended " || list[0].Memory < 1<<20 || list[0].PID != os.Getpid() {
		t.Errorf("%q, %+v", got, list)
	}
	files.Remove()
	dir := filepath.Dir(files.Path)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := processes(); len(list) != 0 {
		t.Errorf("without the command: %+v", list)
	}
}

// TestLaunched finds the job and rank of processes by the variables of their launchers.
func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		env  []string
		name string
		rank int
	}{
		{nil, "", -1},
		{[]string{"OMPI_COMM_WORLD_RANK=3"}, "", 3},
		{[]string{"SLURM_JOB_ID=12", "PMI_RANK=0"}, "slurm-12", 0},
		{[]string{"SLURM_JOB_ID=15", "SLURM_ARRAY_JOB_ID=12", "SLURM_ARRAY_TASK_ID=3"}, "slurm-12_3", -1},
	} {
		cmd := exec.Command("sleep", "600")
		cmd.Env = append([]string{"A=B"}, c.env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); !strings.Contains(environ(cmd.Process.Pid), "A=B") && time.Now().Before(end); {
			time.Sleep(time.Millisecond) // until the process has executed the program
		}
		if name, rank := launched(cmd.Process.Pid); name != c.name || rank != c.rank {
			t.Errorf("%q: %q, %d", c.env, name, rank)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
