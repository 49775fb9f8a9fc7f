//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const whoWorks = `
import { devices, f32 } from 'offload'
const list = devices().filter(d => /^mpi:.*cpu:0$/.test(d.id))
const x = list.map((d, i) => d.buffer(f32, 4).fill(i))
x[list.length - 1].copyTo(x[0])
console.log(list.length, (await x[0].read())[0])
`

const whoRuns = `
import { mpi } from 'mpi'
import process from 'process'
const { stdout } = await process.run('hostname', [])
const [sum] = await mpi.allReduce(Int32Array.of(mpi.rank))
console.log(mpi.rank, sum, stdout.trim(), process.env.CUDA_VISIBLE_DEVICES)
if (process.argv[2] && mpi.rank === 2) process.exit(5)
`

// TestHosts runs jobs on two network namespaces, which the launchers take for machines.
func TestHosts(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	hosts, bridge := namespaces(t)
	agent := filepath.Join(dir, "agent")
	must(t, os.WriteFile(agent, []byte("#!/bin/sh\n[ \"$1\" = -x ] && shift\nhost=$1; shift\nexec ip netns exec $host unshare -u sh -c \"hostname $host; $*\"\n"), 0o700))
	works, runs := filepath.Join(dir, "works.js"), filepath.Join(dir, "runs.js")
	must(t, os.WriteFile(works, []byte(whoWorks), 0o600))
	must(t, os.WriteFile(runs, []byte(whoRuns), 0o600))
	file := filepath.Join(dir, "hosts")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "%s slots=2 # first\n%s\n", hosts[0], hosts[1]), 0o600))
	scripts := []string{"0 3 " + hosts[0] + " 0,1", "1 3 " + hosts[0] + " 2,3", "2 3 " + hosts[1] + " 0,1"}
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for _, c := range []struct {
			name string
			args []string
			code int
			want []string
		}{
			{"workers", []string{"-n", "3", "--hosts", hosts[0] + "," + hosts[1], works}, 0, []string{"3 2"}},
			{"scripts", []string{"-n", "3", "--spmd", "--hostfile", file, "--devices-per-rank", "2", runs}, 0, scripts},
			{"exit", []string{"-n", "3", "--spmd", "--hostfile", file, "--devices-per-rank", "2", runs, "fail"}, 5, nil},
		} {
			t.Run(launcher+"/"+c.name, func(t *testing.T) {
				cmd := exec.Command(orepl, append([]string{"mpirun", "--launcher", launcher}, c.args...)...)
				cmd.Env = append(os.Environ(), "OMPI_MCA_plm_rsh_agent="+agent, "HYDRA_LAUNCHER_EXEC="+agent, "HYDRA_IFACE="+bridge)
				code, text := limited(t, cmd)
				lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
					return strings.Contains(line, "setpgid(") // a warning of Open MPI about a process that has ended
				})
				slices.Sort(lines)
				if code != c.code || c.want != nil && !slices.Equal(lines, c.want) {
					t.Errorf("code %d, want %d\n%s\nwant %q", code, c.code, text, c.want)
				}
			})
		}
	}
}

// namespaces makes two network namespaces on a bridge, or skips the test where it may not. It returns their names and that of the bridge.
func namespaces(t *testing.T) (hosts []string, bridge string) {
	t.Helper()
	unique := fmt.Sprint(os.Getpid())
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
		return nil
	}
	bridge = "ob" + unique
	if err := ip("link", "add", bridge, "type", "bridge"); err != nil {
		t.Skipf("not run, since namespaces cannot be made here: %v", err)
	}
	t.Cleanup(func() { must(t, ip("link", "del", bridge)) })
	net := fmt.Sprintf("10.%d.%d.", 64+os.Getpid()%64, os.Getpid()/64%256)
	must(t, ip("addr", "add", net+"1/24", "dev", bridge))
	must(t, ip("link", "set", bridge, "up"))
	for i := range 2 {
		host, outside := fmt.Sprintf("oh%d-%s", i, unique), fmt.Sprintf("ov%d%s", i, unique)
		if err := ip("netns", "add", host); err != nil {
			t.Skipf("not run, since namespaces cannot be made here: %v", err)
		}
		t.Cleanup(func() { must(t, ip("netns", "del", host)) })
		must(t, ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", host))
		must(t, ip("link", "set", outside, "master", bridge, "up"))
		must(t, ip("-n", host, "addr", "add", fmt.Sprint(net, i+2, "/24"), "dev", "eth0"))
		must(t, ip("-n", host, "link", "set", "eth0", "up"))
		must(t, ip("-n", host, "link", "set", "lo", "up"))
		hosts = append(hosts, host)
	}
	return hosts, bridge
}
