package status

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shellVariables select the command by which MPICH's launcher reaches machines.
var shellVariables = []string{"HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC"}

// managerVariables are set where another program than ssh starts processes on machines.
var managerVariables = []string{"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "HYDRA_RMK", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "COBALT_JOBID"}

// ShellOf returns the command by which MPICH's launcher reaches machines, with its arguments. It returns false if the launcher
// uses a program other than ssh that has no such command, such as Slurm's.
func ShellOf(env []string) (command []string, ok bool) {
	value := func(name string) string {
		for _, v := range slices.Backward(env) {
			if text, ok := strings.CutPrefix(v, name+"="); ok {
				return text
			}
		}
		return ""
	}
	for _, name := range shellVariables {
		if text := value(name); text != "" {
			return []string{text}, true
		}
	}
	for _, name := range managerVariables {
		if value(name) != "" {
			return nil, false
		}
	}
	return []string{"ssh", "-o", connectOption}, true
}

// connectOption limits the time for which ssh waits for a machine that does not answer to 10 s.
const connectOption = "ConnectTimeout=10"

// openMPIShell is the prefix of the environment variables that set how Open MPI's launcher reaches other machines.
const openMPIShell = "OMPI_MCA_plm_rsh_"

// ConnectVariables returns the environment variables by which Open MPI's launcher limits the time to connect. It returns nil if
// env already sets how the launcher reaches machines.
func ConnectVariables(env []string) []string {
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, openMPIShell) }) {
		return nil
	}
	return []string{openMPIShell + "args=-o " + connectOption}
}

// shellText runs a command with the arguments of the launcher, of which the first without a dash is the machine. It passes on signals. 255
// is ssh's code for a connection that failed; the shell's codes for a command that cannot be run are 126 and 127.
const shellText = `#!/bin/sh
for host in "$@"; do
  case $host in -*) ;; *) break ;; esac
done
COMMAND "$@" <&0 &
pid=$!
trap 'kill $pid 2>/dev/null' TERM INT HUP
wait $pid
code=$?
case $code in 255|126|127) echo "unreachable $host" >>STATUS ;; esac
exit $code
`

// Shell writes a shell script that runs a command with further arguments, and returns its path. The script adds a line to the
// file of the status if a machine cannot be reached.
func (f *Files) Shell(command []string) (path string, err error) {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = quote(word)
	}
	path = filepath.Join(f.dirs[0], "shell")
	text := strings.NewReplacer("COMMAND", strings.Join(quoted, " "), "STATUS", quote(f.Path)).Replace(shellText)
	return path, os.WriteFile(path, []byte(text), 0o700)
}

// quote returns a word in the quotes of the shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
