package neighbor

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func stopped(pid int) bool { return state(folder(pid)) == 'T' }

func folder(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid)) }

// state returns the state of a folder's process or thread, as a letter of the manual page proc(5). It returns 0 after its end.
func state(folder string) byte {
	data, err := os.ReadFile(filepath.Join(folder, "stat"))
	if i := bytes.LastIndexByte(data, ')') + 2; err == nil && i < len(data) { // the state follows the program's name
		return data[i]
	}
	return 0
}

// threads returns the threads of a process by number. The file schedstat of a thread has its time on cores, its time of waiting for
// one, both in nanoseconds, and a number of turns.
func threads(pid int) map[string]thread {
	tasks := filepath.Join(folder(pid), "task")
	entries, _ := os.ReadDir(tasks)
	all := make(map[string]thread, len(entries))
	for _, e := range entries {
		at := filepath.Join(tasks, e.Name())
		now := state(at)
		data, err := os.ReadFile(filepath.Join(at, "schedstat"))
		t := thread{disk: now == 'D', ready: now == 'R'}
		if _, scan := fmt.Sscan(string(data), &t.running, &t.waiting); err == nil && scan == nil {
			all[e.Name()] = t
		}
	}
	return all
}

// owner returns a process with the socket of this machine that is connected from local to remote, or 0.
func owner(local, remote netip.AddrPort) int {
	const localField, remoteField, inodeField = 1, 2, 9
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(filepath.Join("/proc/thread-self/net", table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			fields := strings.Fields(line)
			if len(fields) > inodeField && address(fields[localField]) == plain(local) && address(fields[remoteField]) == plain(remote) {
				return holder(fields[inodeField])
			}
		}
	}
	return 0
}

// plain returns an address without a zone, and an IPv4 address in IPv6 as IPv4.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// address returns the address of a text in the tables of sockets: hexadecimal words of four bytes in the machine's order, which is
// little-endian, and a port. It returns the zero AddrPort for other texts.
func address(text string) netip.AddrPort {
	words, port, _ := strings.Cut(text, ":")
	b, err1 := hex.DecodeString(words)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err1 != nil || err2 != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return plain(netip.AddrPortFrom(ip, uint16(n)))
}

// holder returns a process that has a socket open, or 0 if the system shows none.
func holder(inode string) int {
	if inode == "0" { // no process has accepted the connection
		return 0
	}
	name := fmt.Sprintf("socket:[%s]", inode)
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		files := filepath.Join("/proc", p.Name(), "fd")
		entries, _ := os.ReadDir(files) // processes of other users cannot be read
		for _, e := range entries {
			if link, err := os.Readlink(filepath.Join(files, e.Name())); err == nil && link == name {
				return pid
			}
		}
	}
	return 0
}
