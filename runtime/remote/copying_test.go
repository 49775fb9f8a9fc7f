package remote

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/offload"
)

// moves issues copies between the memories of devices in an order, and returns the error of the first part that cannot be issued.
func (j *jointTest) moves(memories []offload.Memory, order []int, flows ...offload.Flow) error {
	var list []offload.Device
	for _, i := range order {
		list = append(list, j.devices[i])
	}
	for k, l := range list[0].(offload.Mover).Move("copies", list, flows) {
		l.Args = []offload.Arg{{Type: offload.U8, Memory: memories[order[k]]}}
		if err := j.queues[order[k]].Launch(&l); err != nil {
			l.Joint.Fail(err)
			return err
		}
	}
	return nil
}

// random returns a memory of random bytes on each device, and these bytes.
func (j *jointTest) random(r *rand.Rand, n int) (memories []offload.Memory, model [][]byte) {
	for i, d := range j.devices {
		m, err := d.Allocate(int64(n), offload.DeviceMemory)
		j.must(err)
		data := make([]byte, n)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		j.must(j.queues[i].Submit(offload.Span{Memory: m, Size: int64(n)}, bytes.Clone(data)))
		memories, model = append(memories, m), append(model, data)
	}
	return memories, model
}

// TestCopiesTogether makes random copies between the memories of three servers, several in flight and among commands that write
// and read the same memories, and compares all bytes with a sequential model. The host can access the memories of some servers.
func TestCopiesTogether(t *testing.T) {
	for name, plugin := range map[string]offload.Plugin{"visible": cpu.New(cpu.Options{}), "hidden": far.Wrap("hidden", cpu.New(cpu.Options{}))} {
		t.Run(name, func(t *testing.T) { copiesTogether(t, plugin) })
	}
}

func copiesTogether(t *testing.T, plugin offload.Plugin) {
	j := &jointTest{T: t}
	j.devices, _, j.kill = peersOf(t, plugin, new(atomic.Int64))
	j.open()
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := []int{5, 3000, 70_000, 900_000, 3_000_000}[round%5]
		memories, model := j.random(r, n)
		for range 1 + r.IntN(5) {
			order := r.Perm(3)
			at, size := int64(r.IntN(n)), int64(0)
			size = 1 + r.Int64N(int64(n)-at)
			switch r.IntN(4) {
			case 0: // a chain, whose members pass the bytes on
				flows := []offload.Flow{{From: 0, To: 1, Source: at, Target: 0, Size: size}, {From: 1, To: 2, Source: 0, Target: int64(n) - size, Size: size}}
				j.must(j.moves(memories, order, flows...))
				copy(model[order[1]][:size], model[order[0]][at:])
				copy(model[order[2]][int64(n)-size:], model[order[1]][:size])
			case 1: // to both others
				j.must(j.moves(memories, order, offload.Flow{To: 1, Source: at, Target: at, Size: size}, offload.Flow{To: 2, Source: 0, Target: 0, Size: int64(n)}))
				copy(model[order[1]][at:][:size], model[order[0]][at:])
				copy(model[order[2]], model[order[0]])
			case 2: // from both others
				half := int64(n) / 2
				flows := []offload.Flow{{From: 1, Source: half, Target: 0, Size: half}, {From: 2, Source: 0, Target: half, Size: int64(n) - half}}
				flows = slices.DeleteFunc(flows, func(f offload.Flow) bool { return f.Size == 0 })
				j.must(j.moves(memories, order, flows...))
				copy(model[order[0]][:half], model[order[1]][half:])
				copy(model[order[0]][half:], model[order[2]])
			case 3:
				d := order[0]
				j.must(j.queues[d].Fill(offload.Span{Memory: memories[d], Offset: at, Size: size}, []byte{byte(round)}))
				for k := range size {
					model[d][at+k] = byte(round)
				}
			}
		}
		for d, m := range memories {
			got := make([]byte, n)
			j.must(j.queues[d].Retrieve(got, offload.Span{Memory: m, Size: int64(n)}))
			j.must(j.queues[d].Sync(j.short()))
			if !bytes.Equal(got, model[d]) {
				t.Fatalf("round %d of %d bytes: device %d differs", round, n, d)
			}
			j.must(m.Free())
		}
	}
}

// TestCopiesTogetherRefused sends flows that cannot be, each of which ends the connection without harm.
func TestCopiesTogetherRefused(t *testing.T) {
	for what, flows := range map[string][]offload.Flow{
		"leave the memory":       {{To: 1, Source: 90, Size: 11}},
		"no bytes":               {{To: 1}},
		"bytes that change":      {{To: 1, Size: 10}, {From: 1, To: 2, Source: 5, Size: 10}},
		"two to the same bytes":  {{To: 2, Size: 10}, {From: 1, To: 2, Target: 5, Size: 10}},
		"twice the same members": {{To: 1, Size: 10}, {To: 1, Target: 20, Size: 10}},
	} {
		j := newJointTest(t)
		memories, _ := j.random(rand.New(rand.NewPCG(3, 4)), 100)
		_ = j.moves(memories, []int{0, 1, 2}, flows...)
		failed := false
		for _, q := range j.queues {
			failed = q.Sync(j.short()) != nil || failed
		}
		if !failed {
			t.Errorf("copies succeed: %s", what)
		}
	}
}

// TestCopiesTogetherFail ends copies of which one part is not issued. The devices can be used afterwards.
func TestCopiesTogetherFail(t *testing.T) {
	j := newJointTest(t)
	for _, n := range []int{10, 3_000_000} {
		r := rand.New(rand.NewPCG(5, uint64(n)))
		memories, model := j.random(r, n)
		flows := []offload.Flow{{From: 0, To: 1, Size: int64(n)}, {From: 1, To: 2, Size: int64(n)}}
		parts := j.devices[0].(offload.Mover).Move("copies", j.devices, flows)
		for i := range 2 {
			parts[i].Args = []offload.Arg{{Type: offload.U8, Memory: memories[i]}}
			j.must(j.queues[i].Launch(&parts[i]))
		}
		parts[2].Joint.Fail(errors.New("the buffer was freed"))
		for i := range 2 { // a part that has sent its bytes has succeeded
			if err := j.queues[i].Sync(j.short()); err != nil && !strings.Contains(err.Error(), "the buffer was freed") || err == nil && n > 1<<20 && i == 1 {
				t.Errorf("part %d of a copy of %d bytes: %v", i, n, err)
			}
		}
		j.must(j.moves(memories, []int{0, 1, 2}, flows...))
		got := make([]byte, n)
		j.must(j.queues[2].Retrieve(got, offload.Span{Memory: memories[2], Size: int64(n)}))
		j.must(j.queues[2].Sync(j.short()))
		if !bytes.Equal(got, model[0]) {
			t.Errorf("the copy of %d bytes after the failure differs", n)
		}
	}
}

// TestCopiesTogetherLost kills a server at random points of copies: all parts end, with a loss unless they were complete, and the
// other devices can be used.
func TestCopiesTogetherLost(t *testing.T) {
	for round := range 6 {
		j := newJointTest(t)
		n := 100 << (3 * (round % 6))
		memories, model := j.random(rand.New(rand.NewPCG(7, uint64(round))), n)
		for _, q := range j.queues {
			j.must(q.Sync(j.short()))
		}
		time.AfterFunc(time.Duration(rand.IntN(10000))*time.Microsecond, func() { j.kill(1) })
		var err error
		for err == nil {
			err = j.moves(memories, []int{0, 1, 2}, offload.Flow{From: 0, To: 1, Size: int64(n)}, offload.Flow{From: 1, To: 2, Size: int64(n)})
			for _, q := range j.queues {
				if e := q.Sync(j.short()); e != nil {
					err = e
				}
			}
		}
		if offload.CodeOf(err) != offload.DeviceLost {
			t.Errorf("the copies failed with %v", err)
		}
		j.must(j.moves(memories, []int{0, 2}, offload.Flow{From: 0, To: 1, Size: int64(n)}))
		got := make([]byte, n)
		j.must(j.queues[2].Retrieve(got, offload.Span{Memory: memories[2], Size: int64(n)}))
		if err := errors.Join(j.queues[2].Sync(j.short()), j.queues[0].Sync(j.short())); err != nil || !bytes.Equal(got, model[0]) {
			t.Errorf("the other devices: %v", err)
		}
	}
}
