//go:build unix

package status

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestShell runs commands in place of ssh: those that fail to connect are written down, others are not.
func TestShell(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	files, err := NewFiles()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Remove()
	for _, c := range []struct {
		command []string
		code    int
		cut     []string
	}{
		{[]string{"sh", "-c", "exit 0", "a b"}, 0, nil},
		{[]string{"sh", "-c", `[ "$3" = "a command" ] && exit 7`, "it's"}, 7, nil},
		{[]string{"sh", "-c", "exit 255", "x"}, 255, []string{"b.example"}},
		{[]string{filepath.Join(t.TempDir(), "none")}, 127, []string{"b.example", "b.example"}},
	} {
		path, err := files.Shell(c.command)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "-x", "b.example", "a command")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%q ends with %d: %s", c.command, code, out)
		}
		if got := Read(files.Path).Cut; !slices.Equal(got, c.cut) {
			t.Errorf("%q: the machines %q are cut off, want %q", c.command, got, c.cut)
		}
	}
}

// TestShellOf checks which command reaches machines.
func TestShellOf(t *testing.T) {
	for env, want := range map[string]string{
		"": "ssh -o ConnectTimeout=10", "HYDRA_LAUNCHER_EXEC=/bin/agent": "/bin/agent", "HYDRA_LAUNCHER=rsh": "", "SLURM_JOB_ID=5": "", "SLURM_JOB_ID=": "ssh -o ConnectTimeout=10",
	} {
		got, ok := ShellOf([]string{"A=B", env})
		if strings.Join(got, " ") != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", env, got, ok)
		}
	}
	if got := ConnectVariables([]string{"A=B"}); len(got) != 1 || !strings.Contains(got[0], "ConnectTimeout") {
		t.Errorf("%q", got)
	}
	if got := ConnectVariables([]string{"OMPI_MCA_plm_rsh_agent=/bin/agent"}); got != nil {
		t.Errorf("with an agent of the user: %q", got)
	}
}
