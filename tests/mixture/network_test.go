//go:build linux

package mixture

import (
	"bufio"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/tests/network"
)

// TestNetworks runs random programs on workers behind networks that deliver late, pause, and cut or drop the bytes of one worker from a
// random one on. Without a cut all reads are right; with one they are, or the loss is reported.
func TestNetworks(t *testing.T) {
	runs := 4
	if testing.Short() {
		runs = 1
	}
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 200
	}
	seed := rand.Uint64() >> 8
	if n, err := strconv.ParseUint(os.Getenv("OREPL_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("OREPL_TEST_SEED=%d", seed)
	orepl := build(t)
	for run := range uint64(runs) {
		t.Run(strconv.FormatUint(run, 10), func(t *testing.T) { throughNetworks(t, orepl, seed, run) }) // its workers end with it
	}
}

// throughNetworks runs five programs, with a cut if run is odd.
func throughNetworks(t *testing.T, orepl string, seed, run uint64) {
	devices := []string{"far:0/cpu:0", "cpu", "far:1/cpu:0"}
	var programs []Program
	for i := range uint64(5) {
		programs = append(programs, Generate(seed+run*5+i, len(devices)))
	}
	data, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "programs.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, run))
	slow := network.Faults{Seed: seed + run, Piece: 1 + r.IntN(20_000), Delay: 100 * time.Microsecond, Stall: 100 * time.Millisecond}
	args := append([]string{"run", "testdata/run.js", file}, devices...)
	if run%2 == 0 {
		expect(t, programs, behind(t, orepl, slow)+","+behind(t, orepl, slow), orepl, args...)
		return
	}
	cut := slow
	cut.Cut, cut.Back, cut.End = 20_000+r.Int64N(2_000_000), r.IntN(2) == 0, network.End(r.IntN(3))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, orepl, args...)
	cmd.Env = append(os.Environ(), "OREPL_FAR="+behind(t, orepl, cut)+","+behind(t, orepl, slow), "MIXTURE_LOSS=1", "OREPL_REMOTE_SILENCE=2s")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); !complete.Match(out) || code != 0 && code != lostCode {
		t.Errorf("%+v: %v\n%s", cut, err, tail(string(out)))
	}
}

var complete = regexp.MustCompile(`(?m)^5 programs, \d+ reads, 0 wrong, \d with a lost device$`)

// behind starts a worker behind a network, and returns the address at which the network has it.
func behind(t *testing.T, orepl string, faults network.Faults) string {
	t.Helper()
	cmd := exec.Command(orepl, "worker")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	place, token, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "OREPL_FAR=tcp:"), "#")
	relay, err := network.New(place, func(int) network.Faults { return faults })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	return "tcp:" + relay.Address() + "#" + token
}
