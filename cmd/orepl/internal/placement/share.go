package placement

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/runtime/job"
)

// ShareVariable is the environment variable with the number of accelerators of each process of a job.
const ShareVariable = "OREPL_DEVICES_PER_RANK"

// visible are the environment variables by which drivers show a part of the accelerators: of NVIDIA, AMD and Intel.
var visible = []string{"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"}

// none is the list of accelerators of a process that has none.
const none = "-1"

// TakeShare starts this program anew with an environment that shows its part of the machine's accelerators, if orepl mpirun
// asks for that. It then returns only errors, otherwise nil. Drivers read the environment that a process began with.
func TakeShare() error {
	text := os.Getenv(ShareVariable)
	if text == "" {
		return nil
	}
	share, err := strconv.Atoi(text)
	if err != nil || share < 1 {
		return fmt.Errorf("%s: %q is no positive number", ShareVariable, text)
	}
	at, ok := job.LocalRank()
	if !ok {
		return fmt.Errorf("%s: the launcher does not tell which processes of the job are on this machine", ShareVariable)
	}
	if len(os.Args) > 1 && os.Args[1] == "worker" && job.Command() != 0 {
		at-- // the script is the first process of this machine
	}
	env := Environment(os.Environ(), at, share)
	if len(os.Args) > 1 && os.Args[1] == "run" && os.Getenv(WorkersVariable) != "" {
		env = Environment(os.Environ(), -1, share)
	}
	return replace(env)
}

// WorkersVariable is an environment variable that is set in a job whose script has workers, which have the accelerators.
const WorkersVariable = "OREPL_MPI_WORKERS"

// Environment returns env with variables that show share accelerators to the process of number at on a machine, and without
// those of this package. If env shows some accelerators only, as in an allocation of Slurm, they are taken from these. A
// process of number -1, or beyond the last accelerator that env shows, has none.
func Environment(env []string, at, share int) []string {
	list := slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == ShareVariable || name == WorkersVariable || slices.Contains(visible, name)
	})
	for _, name := range visible {
		var all []string
		listed := false
		for _, variable := range env {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				listed = true
				if all = nil; value != "" {
					all = strings.Split(value, ",")
				}
			}
		}
		var mine []string
		for i := range share {
			switch n := at*share + i; {
			case at < 0:
			case !listed:
				mine = append(mine, strconv.Itoa(n))
			case n < len(all):
				mine = append(mine, all[n])
			}
		}
		if len(mine) == 0 {
			mine = []string{none}
		}
		list = append(list, name+"="+strings.Join(mine, ","))
	}
	return list
}
