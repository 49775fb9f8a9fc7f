package replay

import (
	"math"
	"math/big"
	"testing"
)

// TestKeys checks that values of runs which a script could tell apart have different keys.
func TestKeys(t *testing.T) {
	seen := map[string]any{}
	for _, list := range [][]any{
		{nil}, {int64(0)}, {0.0}, {math.Copysign(0, -1)}, {math.NaN()}, {false}, {true}, {""}, {"0"}, {big.NewInt(0)}, {big.NewInt(-1)}, {int64(-1)},
		{"a", "b"}, {"ab", ""}, {"", "ab"}, {nil, nil}, {int64(1), nil}, {nil, int64(1)}, {new(big.Int).Lsh(big.NewInt(1), 64)},
	} {
		var tape Tape
		tape.Reset()
		for _, x := range list {
			tape.Number(x)
		}
		if other, ok := seen[string(tape.key)]; ok {
			t.Errorf("%v and %v have one key", list, other)
		}
		seen[string(tape.key)] = list
	}
}

// TestPause checks that a tape stops to record runs that never repeat, and records again later.
func TestPause(t *testing.T) {
	var tape Tape
	run := func(i int64) bool {
		tape.Reset()
		tape.Number(i)
		if tape.Find() != nil {
			return true
		}
		tape.Begin(nil)
		tape.End(true, nil)
		return false
	}
	if run(1); !run(1) {
		t.Error("a run that repeats was not recorded")
	}
	for i := range int64(2 * mostMisses) {
		run(100 + i)
	}
	if run(1); run(1) {
		t.Error("runs are recorded though none repeated")
	}
	for i := int64(1000); tape.pause > 0; i++ {
		run(i)
	}
	if run(2); !run(2) {
		t.Error("runs are not recorded again")
	}
	if len(tape.runs) > mostRuns {
		t.Errorf("%d runs are kept", len(tape.runs))
	}
	tape.Clear()
	if run(2) {
		t.Error("a cleared tape has a run")
	}
}
