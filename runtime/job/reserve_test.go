//go:build unix

package job_test

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/runtime/job"
)

// TestReserve moves the connection to a launcher above the file descriptors that another process uses.
func TestReserve(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd := int(w.Fd())
	env, err := job.Reserve([]string{"PMI_FD=" + strconv.Itoa(fd), "OTHER=4", "HYDI_CONTROL_FD=" + strconv.Itoa(fd+5)}, fd+3)
	if err != nil || env[1] != "OTHER=4" || env[2] != "HYDI_CONTROL_FD="+strconv.Itoa(fd+5) {
		t.Fatalf("%v, %v", env, err)
	}
	up, err := strconv.Atoi(strings.TrimPrefix(env[0], "PMI_FD="))
	if err != nil || up < fd+3 {
		t.Fatalf("%v, %v", env, err)
	}
	flags, err := unix.FcntlInt(uintptr(up), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		t.Errorf("the flags are %d, %v", flags, err)
	}
	if _, err := unix.Write(up, []byte("x")); err != nil {
		t.Error(err)
	}
	_ = unix.Close(up)
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
