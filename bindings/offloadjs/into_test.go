package offloadjs_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestReadInto reads elements of all types into arrays of the script, by all reads, and checks what else of the arrays changes.
func TestReadInto(t *testing.T) {
	got, err := script(t, `import { devices, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, bool } from 'offload'
for (const dev of devices()) {
  for (const type of [i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, bool].filter(t => t !== f64 || dev.features.f64 !== false)) {
    const x = dev.buffer(type, 6, type === bool ? i => i % 2 === 1 : type === i64 ? i => i64(i + 1) : type === u64 ? i => u64(i + 1) : i => i + 1)
    const want = await x.read(), place = new want.constructor(8)
    const part = place.subarray(1, 7)
    const same = await x.read(0, 6, { into: part }) === part && place[0] == 0 && place[7] == 0 && want.every((v, i) => v === part[i])
    const some = place.subarray(0, 2)
    const sync = x.readSync(4, 2, { into: some }) === some && some[0] === want[4] && some[1] === want[5] && place[2] === want[1]
    if (!same || !sync) console.log(dev.id, type.name, same, sync, place)
  }
  const m = dev.buffer(f32, [3, 4], (i, j) => 10 * i + j), box = new Float32Array(4)
  if (await m.readRect({ origin: [1, 1], extent: [2, 2], into: box }) !== box || box.join() !== '11,12,21,22') console.log(dev.id, box)
  const halves = dev.buffer(bf16, [2, 2], (i, j) => i + j), wide = new Float32Array(2)
  if (await halves.readRect({ origin: [0, 1], extent: [2, 1], into: wide }) !== wide || wide.join() !== '1,2') console.log(dev.id, wide)
  const q = dev.createQueue(), y = dev.buffer(f32, 2).fill(3)
  if ((await y.read(0, 2, { queue: q, into: new Float32Array(2) })).join() !== '3,3') console.log('queue')
}
console.log('done')`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if got != "done\n" {
		t.Error(got)
	}
}

// TestReadIntoMistakes checks the errors of arrays that cannot receive the elements.
func TestReadIntoMistakes(t *testing.T) {
	for call, want := range map[string]string{
		"x.read(0, 4, { into: new Float64Array(4) })":                                 "into must be a Float32Array, not an array of f64",
		"x.read(0, 4, { into: [1, 2, 3, 4] })":                                        "into must be a Float32Array, not an array",
		"x.read(0, 4, { into: new Float32Array(5) })":                                 "into has 5 elements for 4 of the buffer",
		"x.readSync(1, 3, { into: new Float32Array(4) })":                             "into has 4 elements for 3 of the buffer",
		"x.readRect({ extent: [2], into: new Float32Array(4) })":                      "into has 4 elements for 2 of the buffer",
		"x.read(0, 4, { into: null })":                                                "into must be a Float32Array, not null",
		"dev.buffer(struct({ a: f32 }), 1).read(0, 1, { into: new Float32Array(1) })": "into cannot receive records",
		"x.writeRect(new Float32Array(4), { into: new Float32Array(4) })":             `there is no option "into"`,
	} {
		_, err := script(t, "import { device, f32, struct } from 'offload'\nconst dev = device('cpu'), x = dev.buffer(f32, 4)\nawait "+call)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(diag.Format(err, false), ":3:") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestReadIntoAllocates checks that reads into an array allocate no memory for the elements.
func TestReadIntoAllocates(t *testing.T) {
	allocated := func(options string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := script(t, `import { device, f32 } from 'offload'
const x = device('cpu').buffer(f32, 1 << 20), place = new Float32Array(1 << 20)
for (let i = 0; i < 40; i++) { await x.read(0, 1 << 20, `+options+`); x.readSync(0, 1 << 20, `+options+`) }`)
		if err != nil {
			t.Fatal(diag.Format(err, false))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const size = 4 << 20
	with, without := allocated("{ into: place }"), allocated("{}")
	t.Logf("80 reads of %d bytes allocate %d bytes with into, and %d without", size, with, without)
	if without < with+70*size {
		t.Errorf("80 reads of %d bytes allocate %d bytes with into, and %d without", size, with, without)
	}
}
