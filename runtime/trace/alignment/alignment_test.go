package alignment

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// clockEvent is an event of a simulated device: a time on its clock.
type clockEvent struct {
	offload.Event
	at time.Duration
}

func (e clockEvent) Since(earlier offload.Event) (int64, bool) {
	return int64(e.at - earlier.(clockEvent).at), true
}

// TestAlignment aligns a simulated clock that runs 30 ppm fast, over a way whose directions take unlike times: the true difference
// must lie within the bounds, and they must be narrower than the shortest way there and back.
func TestAlignment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	device := func(host time.Duration) time.Duration { return 7*time.Hour + host + host*30/1e6 }
	var a bounds
	host, shortest := time.Duration(0), time.Hour
	for i := range 300 {
		host += time.Duration(rng.IntN(50e3))
		there, back := time.Duration(20e3+rng.ExpFloat64()*300e3), time.Duration(5e3+rng.ExpFloat64()*900e3)
		reached := host + there
		a.add(clockEvent{at: device(reached)}, host, reached+back)
		shortest = min(shortest, there+back)
		reference := a.reference.(clockEvent).at
		// The alignment maps the device's present time to the host's.
		mapped := a.host() + device(reached) - reference
		if off := (mapped - reached).Abs(); off > a.bound()+time.Microsecond {
			t.Fatalf("measurement %d: %v wrong, the bound is %v", i, off, a.bound())
		}
		host = reached + back
	}
	if a.bound() > shortest/2 {
		t.Errorf("the bound is %v, the shortest way %v", a.bound(), shortest)
	}
	// A clock that was set contradicts the bounds.
	a.add(clockEvent{at: device(host) + time.Second}, host, host+50*time.Microsecond)
	if a.bound() != 25*time.Microsecond {
		t.Errorf("%v", a.bound())
	}
}
