// Package job describes the job of a launcher, such as mpirun or srun, that this process is part of. The launcher describes it in
// environment variables.
package job

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Interface names the interface by which the processes of a job find each other.
type Interface int

const (
	// None means that no launcher started this process, or that it offers no interface of MPI.
	None Interface = iota
	// OpenMPI is the interface of Open MPI's launcher, and of srun --mpi=pmix.
	OpenMPI
	// MPICH is the interface of MPICH's launcher and its relatives, and of srun --mpi=pmi2.
	MPICH
)

// Job is a job as one of its processes sees it.
type Job struct {
	Interface Interface
	Size      int  // number of processes, 0 without a launcher or if it does not say
	Local     int  // number of those on this machine, 0 if unknown
	Slurm     bool // srun started the process
}

// RankVariables are the environment variables of launchers with the rank of a process.
var RankVariables = []string{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}

// Current returns the job of this process.
func Current() Job {
	j := Job{Slurm: os.Getenv("SLURM_STEP_ID") != "" && os.Getenv("SLURM_PROCID") != ""}
	steps := number("SLURM_STEP_NUM_TASKS")
	switch {
	case number("OMPI_COMM_WORLD_SIZE") > 0:
		j.Interface, j.Size = OpenMPI, number("OMPI_COMM_WORLD_SIZE")
	case number("PMI_SIZE") > 0:
		j.Interface, j.Size = MPICH, number("PMI_SIZE")
	case os.Getenv("PMIX_RANK") != "" && steps > 0:
		j.Interface, j.Size = OpenMPI, steps
	case j.Slurm:
		j.Size = steps
	}
	j.Local = max(number("OMPI_COMM_WORLD_LOCAL_SIZE"), number("MPI_LOCALNRANKS"))
	if j.Local == 0 && number("SLURM_STEP_NUM_NODES") == 1 {
		j.Local = steps
	}
	return j
}

// LocalRank returns the number of this process among those of its job on this machine, from 0. It returns false if the
// launcher did not say.
func LocalRank() (n int, ok bool) {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n >= 0 {
			return n, true
		}
	}
	return 0, false
}

// number returns the positive number in an environment variable, 0 if there is none.
func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// StatusVariable is the environment variable with the file for the status of a script under orepl mpirun.
const StatusVariable = "OREPL_MPI_STATUS"

// SharedMemoryVariable is the environment variable of Open MPI with the folder for shared memory, which orepl mpirun makes.
const SharedMemoryVariable = "OMPI_MCA_btl_vader_backing_directory"

// filesPrefix is the prefix of the names of folders that orepl mpirun makes for a job and removes after it. The number of its process follows.
const filesPrefix = "orepl-mpirun-"

// FilesPattern returns the pattern of [os.MkdirTemp] for folders of a job that this process starts.
func FilesPattern() string { return fmt.Sprintf("%s%d-*", filesPrefix, os.Getpid()) }

// FilesGlob matches the names of folders of jobs.
const FilesGlob = filesPrefix + "*"

// Command returns the number of the process of orepl mpirun that started this process's job, or 0 if there is none on this machine.
// It may have been killed since.
func Command() int {
	rest, ok := strings.CutPrefix(filepath.Base(filepath.Dir(os.Getenv(StatusVariable))), filesPrefix)
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	if _, missing := os.Stat(os.Getenv(StatusVariable)); !ok || err != nil || missing != nil {
		return 0
	}
	return pid
}

// Runs reports whether a process exists.
func Runs(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// RemoveFiles removes the folders that orepl mpirun made for this process's job. orepl mpirun does so itself unless it was killed.
func RemoveFiles() {
	for _, dir := range []string{filepath.Dir(os.Getenv(StatusVariable)), os.Getenv(SharedMemoryVariable)} {
		if strings.HasPrefix(filepath.Base(dir), filesPrefix) {
			_ = os.RemoveAll(dir)
		}
	}
}

// marks are the names of variables that identify one process of a job; a trailing * stands for any rest. Settings of users, such as
// OMPI_MCA_btl, and the allocation of Slurm are not among them.
var marks = []string{
	"PMI_*", "PMIX_*", "HYDI_*", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "MV2_COMM_WORLD_*", "PALS_*",
	"OMPI_COMM_WORLD_*", "OMPI_COMMAND", "OMPI_ARGV", "OMPI_UNIVERSE_SIZE", "OMPI_NUM_APP_CTX", "OMPI_FIRST_RANKS", "OMPI_APP_CTX_NUM_PROCS",
	"OMPI_FILE_LOCATION", "OMPI_MCA_orte_*", "OMPI_MCA_ess*", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe",
	"OMPI_MCA_shmem_RUNTIME_QUERY_hint", "OMPI_MCA_rmaps_base_oversubscribe", "PRTE_*", "PRTE_MCA_*",
	"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURM_STEP*", "SLURM_SRUN_*", "SLURM_PMIX*",
	"SLURM_LAUNCH_NODE_IPADDR", StatusVariable, SharedMemoryVariable,
}

func isMark(name string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		if start, ok := strings.CutSuffix(mark, "*"); ok {
			return strings.HasPrefix(name, start)
		}
		return name == mark
	})
}

// Outside returns an environment without the variables that identify this process as part of its job. A program with them would take
// its place in the job, and end the job.
func Outside(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		mine, ok := os.LookupEnv(name)
		return ok && mine == value && isMark(name)
	})
}
