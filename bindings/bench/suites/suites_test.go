package suites_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/bench/suites"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/offload"
)

// run runs a script and returns its output.
func run(t *testing.T, script string) string {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var out bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), "t.js", script); err != nil {
		t.Fatalf("%s\n%s", diag.Format(err, false), out.String())
	}
	return out.String()
}

// TestSuites runs all suites on small arrays and checks that every result is verified, with the names of the peers.
func TestSuites(t *testing.T) {
	out := run(t, `
import { memory, launches, atomics, peak, roofline } from 'suites'
const bench = { repeats: 2, warmup: 1, minTime: 0 }, devices = ['cpu']
const rows = [...await memory({ devices, elements: 1 << 14, bench }), ...await launches({ devices, bench }), ...await atomics({ devices, elements: 1 << 11, bench }), ...await peak({ devices, elements: 64, bench })]
for (const r of rows) {
  if (r.failed !== undefined || r.wrong !== undefined || r.verified !== true && r.group !== 'launch' || !(r.median >= 0)) console.log('BAD', r)
  if (r.group === 'BabelStream' && r.gigabytesPerSecond * r.median * 1e6 !== { Copy: 2, Mul: 2, Add: 3, Triad: 3, Dot: 2 }[r.params.kernel] * 8 * (1 << 14)
    && Math.abs(r.gigabytesPerSecond * r.median * 1e6 / ({ Copy: 2, Mul: 2, Add: 3, Triad: 3, Dot: 2 }[r.params.kernel] * 8 * (1 << 14)) - 1) > 1e-9) console.log('BYTES', r)
}
console.log(rows.map(r => r.name).join('\n'))
const roof = await roofline('cpu', { elements: 1 << 10, bench })
console.log(roof.gigabytesPerSecond > 0 && roof.gigaflops > 0)`)
	for _, want := range []string{
		"BabelStream/device=cpu/kernel=Copy\n", "BabelStream/device=cpu/kernel=Dot\n", "nvbandwidth/test=host_to_device_memcpy_ce/device=cpu/bytes=65536\n",
		"launch/device=cpu/test=latency\n", "atomics/device=cpu/type=i32/address=one\n", "peak/device=cpu/type=f64/op=fma\n", "\ntrue\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() || strings.Contains(out, "BAD") || strings.Contains(out, "BYTES") {
		t.Error(out)
	}
}

// TestMessages runs the suite of messages on two devices and checks that every result is verified.
func TestMessages(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{}), far.Wrap("remote", cpu.New(cpu.Options{}))}})
	defer rt.Close()
	var out bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), "t.js", `import { messages } from 'suites'
const rows = await messages({ devices: ['cpu', 'remote'], bench: { repeats: 2, warmup: 1, minTime: 0 } })
for (const r of rows) console.log(r.name, r.verified === true && r.median > 0 ? 'right' : r.failed ?? r.wrong)`); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 24 || !strings.Contains(out.String(), "OSU/test=osu_allreduce/devices=2/bytes=65536 right\n") {
		t.Errorf("%s", out.String())
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, " right") {
			t.Error(line)
		}
	}
}

// TestChecks checks that the suites find wrong results: those of a kernel that leaves elements out.
func TestChecks(t *testing.T) {
	out := run(t, `
import { memory } from 'suites'
import { Kernel } from 'offload'
const launch = Kernel.prototype.launch
Kernel.prototype.launch = function (options, ...args) { // leaves the last element out
  return launch.call(this, options.size > 1 && args.length === 3 ? { ...options, size: options.size - 1 } : options, ...args)
}
const rows = await memory({ devices: ['cpu'], elements: 1 << 14, bench: { repeats: 1, warmup: 0, minTime: 0 } })
console.log(rows.filter(r => r.group === 'BabelStream').map(r => r.wrong ?? 'right').join('\n'))`)
	if !strings.Contains(out, "1 of 16384 elements differ from 0.1") {
		t.Error(out)
	}
}

func TestScripts(t *testing.T) {
	for _, name := range suites.Names() {
		text, ok := suites.Script(name)
		if !ok || !strings.Contains(text, "await "+name+"({ devices: args })") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if text, ok := suites.Script("nothing"); ok {
		t.Error(text)
	}
}
