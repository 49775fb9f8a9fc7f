package remote

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestBatches copies many small boxes between two servers in random directions and on the servers' own memory, without a wait, and
// compares the memories with a model in which each command takes effect before the next one.
func TestBatches(t *testing.T) {
	devices, _, _ := peersOf(t, cpu.New(cpu.Options{}), new(atomic.Int64))
	const n, commands = 1 << 10, 600
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	q, err := devices[0].NewQueue(offload.QueueOptions{})
	check(err)
	var memories [4]offload.Memory // two of each server
	var model [4][]byte
	for i := range memories {
		memories[i], err = devices[i/2].Allocate(n, offload.DeviceMemory)
		check(err)
		model[i] = make([]byte, n)
		if i < 2 {
			check(q.Fill(offload.Span{Memory: memories[i], Size: n}, []byte{byte(i + 1)}))
			model[i] = bytes.Repeat([]byte{byte(i + 1)}, n)
		} else {
			check(q.Exchange(offload.Span{Memory: memories[i], Size: n}, offload.Span{Memory: memories[i-2], Size: n}))
			copy(model[i], model[i-2])
		}
	}
	dst, src := 2, 0
	for i := range commands {
		if r.IntN(6) == 0 { // otherwise the same direction again
			dst, src = r.IntN(4), r.IntN(4)
		}
		size := 1 + r.Int64N(64)
		to, from := r.Int64N(n-size), r.Int64N(n-size)
		switch {
		case dst == src || dst >= 2 && src >= 2: // the queue's server is the other one's
			check(q.Fill(offload.Span{Memory: memories[0], Offset: to, Size: size}, []byte{byte(i)}))
			copy(model[0][to:], bytes.Repeat([]byte{byte(i)}, int(size)))
		default:
			check(q.Exchange(offload.Span{Memory: memories[dst], Offset: to, Size: size}, offload.Span{Memory: memories[src], Offset: from, Size: size}))
			copy(model[dst][to:to+size], model[src][from:])
		}
	}
	check(q.Sync(context.Background()))
	for i, m := range memories {
		own, err := devices[i/2].NewQueue(offload.QueueOptions{})
		check(err)
		back := make([]byte, n)
		check(own.Retrieve(back, offload.Span{Memory: m, Size: n}))
		check(own.Sync(t.Context()))
		if !bytes.Equal(back, model[i]) {
			t.Errorf("memory %d differs from the model", i)
		}
	}
}
