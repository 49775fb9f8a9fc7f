package app

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/job"
)

// TestAlone checks which launchers' workers end with an error instead of listening.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		job  job.Job
		want string
	}{
		{job.Job{}, ""},
		{job.Job{Interface: job.OpenMPI, Size: 1}, "its job has no script"},
		{job.Job{Interface: job.MPICH, Size: 1}, "its job has no script"},
		{job.Job{Size: 3, Slurm: true}, "srun started 3 processes without an interface"},
		{job.Job{Size: 1, Slurm: true}, ""}, // also a shell that srun started
	} {
		err := alone(c.job)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.job, err)
		}
	}
}
