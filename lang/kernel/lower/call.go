package lower

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// hostCalls names a capability of targets besides leaves. The host accesses the records while a launch runs, and a system-scope
// fence orders these accesses. Targets without it cannot run kernels that call services.
const hostCalls = "calls"

// callSlots is the maximum number of concurrent calls; a power of two.
const callSlots = 64

// The words of the calls: a lock for each slot, then the slots. The host and the items never write the same word, and only items
// change words atomically. A bus such as PCIe need not support atomic operations of both sides. The item that holds a lock
// writes its call, the number last. It waits until the host has written the number as that of the last answer.
const (
	slotAnswer  = 0  // 2 * the number of the last answered call, + 1 if it failed; written by the host
	slotResult  = 1  // two words, the low one first; the error index if the call failed; written by the host
	slotCall    = 8  // number of the last call: 1, 2 and so on
	slotMessage = 9  // index of the call's message
	slotItem    = 10 // three words: the item's global coordinates
	slotArgs    = 13 // the operands
)

// The results of a call's loop.
const (
	callReturned = iota
	callRefused
	callStopped
)

// slotLength returns the words per slot, enough for each call of a kernel, or 0 if the kernel has no calls. It is a multiple of 8,
// so that words of the host and of items share no 32 bytes.
func slotLength(k *ir.Kernel) (most int) {
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Call {
			n := slotArgs
			for _, a := range in.Args {
				n += max(a.Type.Size(), 4) / 4
			}
			most = max(most, (n+7)&^7)
		}
	})
	return most
}

// callStart returns the index of the first lock. The slots follow the locks.
func (k *Kernel) callStart() int { return (FaultStart + k.FaultWords + 7) &^ 7 }

// callWords returns the number of words of the calls.
func (k *Kernel) callWords() int {
	if k.slotWords == 0 {
		return 0
	}
	return callSlots * (1 + k.slotWords)
}

// call lowers a Call of an active item: a loop that acquires a slot, writes the request, and waits. An item performs one step
// per iteration. On processors with lockstep execution a waiting item therefore never blocks another item's progress.
func (l *lowering) call(in *ir.Instr) {
	args := l.all(in.Args)
	m := Message{Service: in.Fn, Result: in.Type()}
	number := l.message(m, args)
	run := func() []*ir.Value {
		return l.loop([]ir.Type{ir.I32, ir.U32, ir.U32}, []*ir.Value{l.and(l.number, l.i32(callSlots-1)), l.zero(ir.U32)}, func(loop *ir.Instr, p []*ir.Value) {
			l.callStep(loop, number, args, p[0], p[1])
		})
	}
	var r []*ir.Value
	if l.meets {
		r = l.choose(l.isAlive(), run, func() []*ir.Value {
			return []*ir.Value{l.i32(callReturned), l.zero(ir.U32), l.zero(ir.U32)}
		})
	} else {
		r = run()
	}
	l.faultIf(l.eq(r[0], l.i32(callRefused)), Message{Kind: interp.CallFailed.String()}, r[1])
	l.endIf(l.eq(r[0], l.i32(callStopped)))
	if v := in.Result(); v != nil {
		l.values[v] = l.fromWords(v.Type, r[1], r[2])
	}
}

// callStep emits an iteration of a call's loop. It leaves the loop if the launch is to stop. If asked is 0, the item then tries to
// lock the slot: it writes its call there, or goes on to the next slot. Otherwise it looks for the answer to the call with the
// number asked.
func (l *lowering) callStep(loop *ir.Instr, number int, args []*ir.Value, slot, asked *ir.Value) {
	records, zero, one := l.out.Records, l.zero(ir.U32), l.konst(ir.U32, 1)
	exit := func(c *ir.Value, results ...*ir.Value) { l.leave(c, ir.Break, loop, results...) }
	exit(l.ne(l.atomic(ir.AtomicLoad, ir.U32, records, l.word(StopWord)), zero), l.i32(callStopped), zero, zero)
	at := func(stride, base int) *ir.Value {
		return l.plus(l.mul(l.convert(ir.I64, slot), l.int(ir.I64, int64(4*stride))), int64(4*base))
	}
	lock, start := at(1, l.out.callStart()), at(l.out.slotWords, l.out.callStart()+callSlots)
	word := func(n int) *ir.Value { return l.plus(start, int64(4*n)) }
	next := l.choose(l.ne(asked, zero), func() []*ir.Value {
		answer := l.atomic(ir.AtomicLoad, ir.U32, records, word(slotAnswer))
		l.systemFence(ir.Acquire)
		refused := l.ne(l.and(answer, one), zero)
		c := l.Nested(ir.If, nil, l.eq(l.shr(answer, 1), asked))
		outer := l.Block
		l.Block = c.Else
		l.jump(ir.Yield, nil)
		l.Block = c.Then
		low, high := l.load(ir.U32, records, word(slotResult)), l.load(ir.U32, records, word(slotResult+1))
		l.systemFence(ir.AcquireRelease)
		l.atomic(ir.AtomicCompareExchange, ir.U32, records, lock, one, zero)
		l.jump(ir.Break, loop, l.sel(refused, l.i32(callRefused), l.i32(callReturned)), low, high)
		l.Block = outer
		return []*ir.Value{slot, asked}
	}, func() []*ir.Value {
		return l.choose(l.eq(l.atomic(ir.AtomicCompareExchange, ir.U32, records, lock, zero, one), zero), func() []*ir.Value {
			l.systemFence(ir.Acquire)
			last := l.atomic(ir.AtomicLoad, ir.U32, records, word(slotCall))
			n := l.and(l.add(last, one), l.konst(ir.U32, math.MaxInt32)) // twice the number fits a word
			n = l.sel(l.eq(n, zero), one, n)
			l.store(ir.U32, records, word(slotMessage), l.konst(ir.U32, uint64(number)))
			for i, w := range l.words(args) {
				at := slotItem + i
				if i >= 3 {
					at = slotArgs + i - 3
				}
				l.store(ir.U32, records, word(at), w)
			}
			l.systemFence(ir.Release)
			l.atomic(ir.AtomicCompareExchange, ir.U32, records, word(slotCall), last, n)
			return []*ir.Value{slot, n}
		}, func() []*ir.Value {
			return []*ir.Value{l.and(l.plus(slot, 1), l.i32(callSlots-1)), asked}
		})
	})
	if l.target.Has("pause", ir.Void) {
		l.Op(ir.Pause, ir.Void)
	}
	l.jump(ir.Continue, loop, next...)
}

func (l *lowering) systemFence(order ir.FenceOrder) {
	l.Emit(&ir.Instr{Op: ir.Fence, Order: order, Reach: ir.ReachSystem}, ir.Void)
}

// endIf ends the item under a condition, or marks it as absent.
func (l *lowering) endIf(c *ir.Value) { l.failing(c, func() {}) }

// fromWords returns the value of two words, the low one first.
func (l *lowering) fromWords(t ir.Type, low, high *ir.Value) *ir.Value {
	switch {
	case t == ir.Bool:
		return l.ne(low, l.zero(ir.U32))
	case t.Size() == 4:
		return l.cast(t, low)
	}
	return l.cast(t, l.or(l.wrap(ir.U64, low), l.shl(l.wrap(ir.U64, high), 32)))
}

// Call is a pending call of a service.
type Call struct {
	*Message
	Item   [3]int // global coordinates of the item that calls
	Args   []interp.Scalar
	slot   int
	number uint32 // number of the call in its slot
}

// Calls serves the calls of a launch while it runs, through its records. It is safe for concurrent use.
type Calls struct {
	kernel *Kernel
	words  []uint32 // the records
	mu     sync.Mutex
	taken  [callSlots]uint32 // by slot, number of the last call that Next returned
	errs   []error           // errors of failed calls; error index n of a record is errs[n-1]
}

// Calls returns the calls of a launch with these records.
func (k *Kernel) Calls(words []uint32) *Calls { return &Calls{kernel: k, words: words} }

// slot returns the words of a slot.
func (c *Calls) slot(n int) []uint32 {
	return c.words[c.kernel.callStart()+callSlots+n*c.kernel.slotWords:][:c.kernel.slotWords]
}

// Next returns a pending call, to be answered with [Calls.Answer], or false if there is none. It returns each call once. Calls with
// an invalid message index do not count: Next answers them with an error.
func (c *Calls) Next() (call Call, ok bool) {
	if c.kernel.slotWords == 0 {
		return Call{}, false
	}
	for n := range callSlots {
		words := c.slot(n)
		asked, fresh := c.take(n, words)
		if !fresh {
			continue
		}
		number := words[slotMessage]
		if number >= uint32(len(c.kernel.Messages)) || c.kernel.Messages[number].Service == "" {
			c.answer(n, asked, 0, errors.New("the device has overwritten the records of its calls"))
			continue
		}
		call = Call{Message: &c.kernel.Messages[number], slot: n, number: asked}
		for axis := range call.Item {
			call.Item[axis] = int(int32(words[slotItem+axis]))
		}
		rest := words[slotArgs:]
		for _, t := range call.Types {
			var bits uint64
			bits, rest = takeBits(t, rest)
			call.Args = append(call.Args, interp.Scalar{Type: t, Bits: bits})
		}
		return call, true
	}
	return Call{}, false
}

// take returns the number of a slot's call if it was not taken before, and takes it. It reads the number under the lock: another
// goroutine may have answered a number that was read earlier, and have taken the next one.
func (c *Calls) take(slot int, words []uint32) (asked uint32, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked = atomic.LoadUint32(&words[slotCall])
	if c.taken[slot] == asked {
		return 0, false
	}
	c.taken[slot] = asked
	return asked, true
}

// Answer ends a call with the bits of its result or, if err is not nil, with a fault of the item. Any bits but 0 are true for a
// bool.
func (c *Calls) Answer(call Call, bits uint64, err error) {
	if call.Result == ir.Bool && bits != 0 {
		bits = 1
	}
	c.answer(call.slot, call.number, bits, err)
}

func (c *Calls) answer(slot int, number uint32, bits uint64, err error) {
	failed := uint32(0)
	if err != nil {
		c.mu.Lock()
		c.errs = append(c.errs, err)
		bits, failed = uint64(len(c.errs)), 1
		c.mu.Unlock()
	}
	words := c.slot(slot)
	words[slotResult], words[slotResult+1] = uint32(bits), uint32(bits>>32)
	atomic.StoreUint32(&words[slotAnswer], number<<1|failed)
}

// Err returns the error of the failed call behind a fault. It returns nil for other faults and for nil. If the fault's record has no
// valid error index, the error says that the device has overwritten the records.
func (c *Calls) Err(fault *Record) error {
	if fault == nil || fault.Kind != interp.CallFailed.String() || len(fault.Bits) != 1 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := fault.Bits[0]; n >= 1 && n <= uint64(len(c.errs)) {
		return c.errs[n-1]
	}
	return errors.New("the device has overwritten the records of its calls")
}

// takeBits splits off the bits of a value and returns them with the remaining words.
func takeBits(t ir.Type, words []uint32) (bits uint64, rest []uint32) {
	bits = uint64(words[0])
	if t.Size() == 8 {
		bits |= uint64(words[1]) << 32
		words = words[1:]
	}
	return bits, words[1:]
}
