package status

import (
	"os"
	"path/filepath"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

// Files are the files of a job on this machine, which launchers and libraries of MPI leave when they are killed.
type Files struct {
	Path  string     // receives the status of processes
	dirs  []string   // the folder of the status, and that of shared memory
	locks []*os.File // the folders, opened and locked, which shows that they are in use
}

// sharedMemoryDir is where Linux has shared memory.
const sharedMemoryDir = "/dev/shm"

// NewFiles makes the files of a job that this process starts. It removes those of jobs whose orepl mpirun was killed.
func NewFiles() (*Files, error) {
	removeStale(os.TempDir())
	removeStale(sharedMemoryDir)
	f := &Files{}
	dir, err := f.folder("")
	if err != nil {
		return nil, err
	}
	f.Path = filepath.Join(dir, "status")
	if err := os.WriteFile(f.Path, nil, 0o600); err != nil {
		f.Remove()
		return nil, err
	}
	_, _ = f.folder(sharedMemoryDir) // without it, the library chooses another place
	return f, nil
}

// folder makes a folder in a parent, and locks it.
func (f *Files) folder(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, job.FilesPattern())
	if err != nil {
		return "", err
	}
	f.dirs = append(f.dirs, dir)
	if lock, err := lockFolder(dir); err == nil {
		f.locks = append(f.locks, lock)
	}
	return dir, nil
}

// staleAge is the least age of a folder that removeStale removes. Its maker has locked it by then.
const staleAge = time.Minute

// removeStale removes folders of jobs whose maker has ended without removing them.
func removeStale(parent string) {
	list, _ := filepath.Glob(filepath.Join(parent, job.FilesGlob))
	for _, dir := range list {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleAge {
			continue
		}
		if lock, err := lockFolder(dir); err == nil { // fails for a folder in use, and for one of another user
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

// Remove removes the files.
func (f *Files) Remove() {
	for _, dir := range f.dirs {
		_ = os.RemoveAll(dir)
	}
	for _, lock := range f.locks {
		_ = lock.Close()
	}
}

// Variables returns the environment variables that make processes of the job use the files. here tells whether all of them run
// on this machine; otherwise they use only the file of the status.
func (f *Files) Variables(here bool) []string {
	list := []string{job.StatusVariable + "=" + f.Path}
	if !here {
		return list
	}
	list = append(list, "OMPI_MCA_orte_tmpdir_base="+f.dirs[0])
	if len(f.dirs) > 1 {
		list = append(list, job.SharedMemoryVariable+"="+f.dirs[1])
	}
	return list
}
