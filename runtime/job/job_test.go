package job_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/job"
)

// launched are variables that launchers set for a process. Those in the second list are of users, or of Slurm's allocation.
var launched = map[string][2]string{
	"Open MPI": {"OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 PMIX_RANK=1 PMIX_NAMESPACE=77 PMIX_SERVER_URI4=tcp OMPI_MCA_orte_hnp_uri=tcp " +
		"OMPI_MCA_ess=^singleton OMPI_MCA_ess_base_vpid=1 OMPI_MCA_pmix=^s1 OMPI_FILE_LOCATION=/tmp OMPI_MCA_initial_wdir=/ OREPL_MPI_STATUS=/tmp/f",
		"OMPI_MCA_btl=tcp OMPI_ALLOW_RUN_AS_ROOT=1 OREPL_MPI_SILENCE=5s"},
	"Hydra": {"PMI_SIZE=3 PMI_RANK=0 PMI_FD=6 HYDI_CONTROL_FD=7 MPI_LOCALNRANKS=3 MPI_LOCALRANKID=0", "MPIR_CVAR_DEBUG=1 UCX_TLS=tcp"},
	"Slurm, PMIx": {"PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.1.0 SLURM_STEP_ID=0 SLURM_STEPID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=3 SLURM_LOCALID=0",
		"SLURM_JOB_ID=9 SLURM_JOB_NODELIST=n1 SLURM_ARRAY_TASK_ID=4 SLURM_CPUS_PER_TASK=2"},
	"Slurm": {"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=3", "SLURM_JOB_ID=9 SLURM_NTASKS=3"},
}

// TestOutside checks which variables of each launcher a program outside of the job receives, and that without a launcher it
// receives all.
func TestOutside(t *testing.T) {
	for name, v := range launched {
		marks, others := strings.Fields(v[0]), strings.Fields(v[1])
		env := append(slices.Clone(marks), others...)
		if got := job.Outside(env); !slices.Equal(got, env) {
			t.Errorf("%s: a process outside of a job passes on %v of %v", name, got, env)
		}
		t.Run(name, func(t *testing.T) {
			clear(t)
			for _, kv := range env {
				k, v, _ := strings.Cut(kv, "=")
				t.Setenv(k, v)
			}
			if got := job.Outside(env); !slices.Equal(got, others) {
				t.Errorf("%v remain, want %v", got, others)
			}
			if other := []string{"PMI_RANK=12345", "OMPI_COMM_WORLD_RANK=12345"}; !slices.Equal(job.Outside(other), other) {
				t.Errorf("the variables of another process are removed from %v", other)
			}
			if j := job.Current(); j.Size != 3 || j.Interface == job.None != (name == "Slurm") || j.Slurm != strings.HasPrefix(name, "Slurm") {
				t.Errorf("the job is %+v", j)
			}
		})
	}
}

// clear removes the variables of a launcher of the test itself.
func clear(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"} {
		if v, ok := os.LookupEnv(name); ok {
			t.Setenv(name, v) // restores it
			_ = os.Unsetenv(name)
		}
	}
}

// TestNone checks that a process without a launcher is in no job.
func TestNone(t *testing.T) {
	clear(t)
	if j := job.Current(); j != (job.Job{}) {
		t.Errorf("%+v", j)
	}
}
