package cpu

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denials make this process one that may not make memory executable, as sandboxes do.
var denials = map[string]func() error{
	"none": func() error { return nil },
	"gain": func() error { // systemd's MemoryDenyWriteExecute on new kernels
		const refuseGain = 1
		return unix.Prctl(unix.PR_SET_MDWE, refuseGain, 0, 0, 0)
	},
	"all": func() error { return denyExecutable() },
}

// denyExecutable refuses calls of mmap and mprotect for executable memory, on all threads.
func denyExecutable() error {
	const thirdArgument, number = 32, 0 // offsets in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	is := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	list := []unix.SockFilter{
		load(number), is(unix.SYS_MMAP, 1, 0), is(unix.SYS_MPROTECT, 0, 3),
		load(thirdArgument), {Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.PROT_EXEC, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	const allThreads = 1
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, allThreads, uintptr(unsafe.Pointer(&program))); e != 0 {
		return e
	}
	return nil
}

// TestNotice opens the device in processes that may not make memory executable in one way, or in all.
func TestNotice(t *testing.T) {
	if kind := os.Getenv("OREPL_TEST_DENIAL"); kind != "" {
		if err := denials[kind](); err != nil {
			fmt.Println("cannot:", err)
			os.Exit(0)
		}
		p, err := New(Options{}).Open(context.Background())
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("notice: %s.\n", p.Devices()[0].Info().Notice)
		os.Exit(0)
	}
	for kind, want := range map[string]string{"none": "notice: .", "gain": "notice: .", "all": "notice: kernels are interpreted, which is some hundred times slower"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNotice$")
		cmd.Env = append(os.Environ(), "OREPL_TEST_DENIAL="+kind, "OREPL_DEBUG=")
		out, err := cmd.CombinedOutput()
		if strings.HasPrefix(string(out), "cannot:") {
			t.Logf("%s: this kernel: %s", kind, out)
			continue
		}
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
	}
}
