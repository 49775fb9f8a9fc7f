package lower_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/lower/leaf"
)

const callingKernel = "%1: i32 = item.global.x\n%2: i32 = load id[%1]\n%3: i64 = const 4294967296\n%4: i64 = convert %1\n%5: i64 = mul %4, %3\n" +
	"%6: i64 = call.twice %5, %2 !3\n%7: i32 = const 33\n%8: i64 = shr %6, %7\n%9: i32 = wrap %8\nstore x[%1], %9\n" +
	"%10: bool = call.known %9 !4\n%11: i32 = convert %10\nstore y[%1], %11"

// TestConcurrentCalls shares the call slots, which are fewer than the items, between several launches and two serving
// goroutines. Under the race detector it checks that slot states order all accesses.
func TestConcurrentCalls(t *testing.T) {
	k := kernel(t, "id: i32[*], x: i32[*], y: i32[*]", "", callingKernel)
	for _, target := range targets(t) {
		if !target.CallsHost() {
			continue
		}
		l, err := lower.Lower(k, target, lower.Options{MaxGroup: 16})
		if err != nil {
			t.Fatal(err)
		}
		const launches, items = 4, 80
		records := l.NewRecords(0)
		calls := l.Calls(records)
		var served [2]atomic.Int64
		var done atomic.Bool
		var hosts, devices sync.WaitGroup
		for range 2 {
			hosts.Go(func() {
				for !done.Load() {
					call, ok := calls.Next()
					if !ok {
						runtime.Gosched()
						continue
					}
					switch x := call.Args[0].Bits; {
					case call.Service == "twice" && len(call.Args) == 2 && call.Site == 3 && x == uint64(call.Item[0])<<32:
						served[0].Add(1)
						calls.Answer(call, 2*x, nil)
					case call.Service == "known" && call.Site == 4:
						served[1].Add(1)
						calls.Answer(call, x%2*64, nil) // any nonzero value is true
					default:
						t.Errorf("a call of %s for item %v with %v at site %d", call.Service, call.Item, call.Args, call.Site)
						calls.Answer(call, 0, nil)
					}
				}
			})
		}
		for n := range launches {
			devices.Go(func() {
				id := make([]byte, 4*items)
				x, y := make([]byte, 4*items), make([]byte, 4*items)
				dims := []int32{items}
				run := &leaf.Launch{Size: [3]int{items, 1, 1}, GroupSize: [3]int{16, 1, 1}, Records: records,
					Args: []leaf.Arg{{Data: id, Dims: dims}, {Data: x, Dims: dims}, {Data: y, Dims: dims}}}
				if err := leaf.Run(l, target, run); err != nil {
					t.Error(err)
				}
				for i := range items {
					if x[4*i] != byte(i) || y[4*i] != byte(i%2) {
						t.Fatalf("launch %d, item %d: %d and %d", n, i, x[4*i], y[4*i])
					}
				}
			})
		}
		devices.Wait()
		done.Store(true)
		hosts.Wait()
		if a, b := served[0].Load(), served[1].Load(); a != launches*items || b != launches*items {
			t.Errorf("target %s: %d and %d calls were served, want %d each", target.Name, a, b, launches*items)
		}
		if fault, _, _ := l.Read(records, lower.Geometry{Size: [3]int{items, 1, 1}, GroupSize: [3]int{16, 1, 1}}); fault != nil {
			t.Errorf("target %s: a fault %s at %d", target.Name, fault.Kind, fault.Site)
		}
	}
}

// TestWordsHaveOneWriter checks that the host and the items write different words of the records: a device's atomic operation on
// memory of the host, even a failed exchange, can overwrite what the host stores meanwhile.
func TestWordsHaveOneWriter(t *testing.T) {
	k := kernel(t, "id: i32[*], x: i32[*], y: i32[*]", "", callingKernel)
	for _, target := range targets(t) {
		if !target.CallsHost() {
			continue
		}
		l, err := lower.Lower(k, target, lower.Options{MaxGroup: 16})
		if err != nil {
			t.Fatal(err)
		}
		const items = 200
		records := l.NewRecords(0)
		calls, served := l.Calls(records), 0
		seen := slices.Clone(records)
		var byItems, byHost []int
		changes := func(list []int) []int {
			for i := range records {
				if records[i] != seen[i] && !slices.Contains(list, i) {
					list = append(list, i)
				}
			}
			copy(seen, records)
			return list
		}
		dims := []int32{items}
		run := &leaf.Launch{Size: [3]int{items, 1, 1}, GroupSize: [3]int{16, 1, 1}, Records: records,
			Args: []leaf.Arg{{Data: make([]byte, 4*items), Dims: dims}, {Data: make([]byte, 4*items), Dims: dims}, {Data: make([]byte, 4*items), Dims: dims}},
			Host: func() {
				byItems = changes(byItems)
				if call, ok := calls.Next(); ok {
					served++
					calls.Answer(call, uint64(served), nil)
				}
				byHost = changes(byHost)
			}}
		if err := leaf.Run(l, target, run); err != nil {
			t.Fatal(err)
		}
		if len(byItems) == 0 || len(byHost) == 0 || served != 2*items {
			t.Errorf("target %s: %d calls of %d, %d words by items, %d by the host", target.Name, served, 2*items, len(byItems), len(byHost))
		}
		for _, i := range byHost {
			if slices.Contains(byItems, i) {
				t.Errorf("target %s: the host and the items write word %d", target.Name, i)
			}
		}
	}
}

// TestCallsEndByStop stops a launch whose calls are not answered.
func TestCallsEndByStop(t *testing.T) {
	k := kernel(t, "x: i32[*]", "", "%1: i32 = item.global.x\ncall.wait %1 !3\nstore x[%1], %1")
	for _, target := range targets(t) {
		if !target.CallsHost() {
			continue
		}
		l, err := lower.Lower(k, target, lower.Options{MaxGroup: 4})
		if err != nil {
			t.Fatal(err)
		}
		records := l.NewRecords(0)
		turns := 0
		run := &leaf.Launch{Size: [3]int{100, 1, 1}, GroupSize: [3]int{4, 1, 1}, Args: []leaf.Arg{{Data: make([]byte, 400), Dims: []int32{100}}}, Records: records,
			Host: func() {
				if turns++; turns == 50 {
					records[lower.StopWord] = 1
				}
			}}
		if err := leaf.Run(l, target, run); err != nil {
			t.Errorf("target %s: %v", target.Name, err)
		}
		if fault, _, _ := l.Read(records, lower.Geometry{}); fault != nil || turns < 50 {
			t.Errorf("target %s: fault %+v after %d turns of the host", target.Name, fault, turns)
		}
	}
}

// TestDamagedCalls serves call records corrupted by a device.
func TestDamagedCalls(t *testing.T) {
	k := kernel(t, "x: i32[*]", "", "%1: i32 = item.global.x\ncall.wait %1 !3\nprint \"\" %1 \"\"\nstore x[%1], %1")
	l, err := lower.Lower(k, targets(t)[0], lower.Options{MaxGroup: 4})
	if err != nil {
		t.Fatal(err)
	}
	for number := range uint32(8) {
		records := l.NewRecords(0)
		slot := l.PrintStart() - 64*16 // 64 slots of 13 words and an operand, rounded up to a multiple of 8
		records[slot+8], records[slot+9] = 7, number*1000
		if number < 4 {
			records[slot+9] = number
		}
		calls := l.Calls(records)
		call, ok := calls.Next()
		want := int(records[slot+9]) < len(l.Messages) && l.Messages[records[slot+9]].Service == "wait"
		if ok != want {
			t.Errorf("message %d of %d: a call %v", records[slot+9], len(l.Messages), ok)
		}
		if ok {
			calls.Answer(call, 0, errors.New("no"))
		}
		if records[slot] != 2*7+1 {
			t.Errorf("message %d: the answer is %d", number, records[slot])
		}
		if again, ok := calls.Next(); ok {
			t.Errorf("message %d: the call was returned again: %+v", number, again)
		}
		fault := lower.Record{Message: &lower.Message{Kind: interp.CallFailed.String()}, Bits: []uint64{uint64(number)}}
		if err := calls.Err(&fault); err == nil {
			t.Errorf("error %d is nil", number)
		}
	}
}
