// Package bounds limits the interpreter's builtins by the machine's resources and the engine's limits. A builtin runs to its end
// without checking for interrupts, so its time and memory are checked before it starts. Recursion in Go must be shallow,
// because Go ends a process whose stack is exhausted.
package bounds

import (
	"fmt"
	"math"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/heap"
	"github.com/orepl/orepl/lang/internals"
)

// Bounds limits the builtins of an interpreter.
type Bounds struct {
	vm     *goja.Runtime
	host   Host
	limits Limits
	// items is the maximum number of elements that one call visits; bytes is the maximum that it allocates.
	items, bytes uint64
	unchecked    uint64        // bytes allocated since the last check of the heap
	depth        int           // current nesting of builtin calls
	entered      uint          // number of builtin calls
	isArray      goja.Callable // Array.isArray
	missing      error         // error about a constructor that was not found, or nil
}

// Limits are the limits of an engine.
type Limits struct {
	Time   time.Duration // of a call, 0 without
	Memory uint64        // bytes, 0 without
	Any    bool          // there is a limit, of time, memory or another one
}

// Host is the engine of an interpreter.
type Host interface {
	Exceeds(limit, more uint64) (used uint64, yes bool) // reports whether the engine's memory and more bytes exceed a limit
	Poll()                                              // ends an interrupted call
	CheckMemory()                                       // interrupts a call that uses too much memory
	Throw(err error)
	OwnProperty(o *goja.Object, name string) *goja.Object // returns a descriptor, or nil
	Text(v goja.Value) (goja.Value, error)                // converts a value to a string
	Native(expression string) (internals.Native, error)
	Generators() *goja.Object // the prototype of generators
}

const (
	itemsPerSecond = 4 << 20 // rate of the slowest builtins on a slow machine
	bytesPerSecond = 1 << 30
	itemSize       = 16 // bytes per array element

	// unlimitedItems is the maximum number of elements that an uninterruptible builtin visits in an engine without limits of
	// time and memory.
	unlimitedItems = 1 << 28

	// maxDepth is the maximum nesting of builtin calls, of proxies, and of data. Each level takes about 1 KiB of stack.
	maxDepth = 5000
)

// New returns the bounds of an interpreter. The methods of [Bounds] add checks to builtins.
func New(vm *goja.Runtime, l Limits, h Host) *Bounds {
	b := &Bounds{vm: vm, host: h, limits: l, items: unlimitedItems, bytes: math.MaxUint64}
	if l.Time > 0 {
		seconds := max(l.Time.Seconds(), 0.05)
		b.items, b.bytes = uint64(itemsPerSecond*seconds), uint64(bytesPerSecond*seconds)
	}
	if l.Memory > 0 {
		b.items, b.bytes = min(b.items, l.Memory/itemSize), min(b.bytes, l.Memory)
	}
	return b
}

// fail throws a RangeError.
func (b *Bounds) fail(id, hint, format string, args ...any) {
	b.host.Throw(&diag.Diagnostic{ID: id, Name: "RangeError", Message: fmt.Sprintf(format, args...), Hint: hint})
}

// visit throws if a call would visit more elements than the limit.
func (b *Bounds) visit(name string, n uint64) {
	if n > b.items {
		b.fail("out-of-resources", "work in smaller parts, use a kernel, or raise the limits", "%s would visit %d elements at once; the limits of the engine allow %d", name, n, b.items)
	}
}

// largeAllocation is the number of bytes, of one allocation or in sum, from which allocations check the heap first.
const largeAllocation = 1 << 20

// Allocate throws if a call would allocate more than the limits of time and memory allow, or than the machine has. It looks at the
// memory in use once per largeAllocation bytes. Go ends a process whose allocation fails.
func (b *Bounds) Allocate(name string, n uint64) {
	const hint = "work in smaller parts, or raise the memory limit"
	if n > b.bytes {
		b.fail("out-of-memory", hint, "%s would allocate %s at once; the limits of the engine allow %s", name, heap.Text(n), heap.Text(b.bytes))
	}
	if b.unchecked += n; b.unchecked < largeAllocation {
		return
	}
	b.unchecked = 0
	if limit := b.limits.Memory; limit != 0 {
		if used, yes := b.host.Exceeds(limit, n); yes {
			b.fail("out-of-memory", hint, "%s would allocate %s beside %s in use; the limit is %s", name, heap.Text(n), heap.Text(used), heap.Text(limit))
		}
	}
	if !heap.FitsMachine(n) {
		b.fail("out-of-memory", "work in smaller parts, or keep the data on a device", "%s would allocate %s; the machine has %s for this process", name, heap.Text(n), heap.Text(heap.Machine()))
	}
}

// callsPerCheck is the number of builtin calls between two checks of the engine's memory.
const callsPerCheck = 256

// enter runs before a builtin: it ends an interrupted call, limits the nesting, and after each callsPerCheck calls checks the
// memory.
func (b *Bounds) enter(name string) {
	b.host.Poll()
	if b.entered++; b.entered%callsPerCheck == 0 {
		b.host.CheckMemory()
	}
	if b.depth >= maxDepth {
		b.fail("stack-overflow", "is there a recursion without an end?", "%s: data or calls are nested more than %d deep", name, maxDepth)
	}
	b.depth++
}

func (b *Bounds) leave() { b.depth-- }

// Functions adds checks to functions. In an engine without limits these are the functions that allocate or run in proportion to
// a number, such as an object's length. With limits they are all functions that may run long. The error is that of a
// constructor that was not found.
func (b *Bounds) Functions() error {
	json := b.vm.GlobalObject().Get("JSON").(*goja.Object)
	typed := b.vm.GlobalObject().Get("Uint8Array").(*goja.Object).Prototype()
	b.isArray, _ = goja.AssertFunction(internals.At(b.vm.GlobalObject(), "Array.isArray"))
	if !b.limits.Any {
		b.functions(allocatingFunctions)
		b.functions(visitingFunctions)
		b.wrap(typed, "from", checkSourceMemory)
		b.wrap(json, "stringify", checkNothing) // converted checks it
		return b.missing
	}
	b.functions(boundFunctions)
	b.wrap(typed, "from", checkSourceLength)
	b.wrap(typed, "of", checkNothing)
	proto := typed.Get("prototype").(*goja.Object)
	for _, name := range typedArrayMethods {
		b.wrap(proto, name, checkTypedLength)
	}
	b.wrap(proto, "set", checkSet)
	b.constructors()
	b.json()
	return b.missing
}

// A check validates a call before the builtin runs.
type check func(b *Bounds, name string, c goja.FunctionCall)

func (b *Bounds) functions(lists []boundList) {
	global := b.vm.GlobalObject()
	for _, list := range lists {
		on := global
		for _, part := range list.on {
			on = on.Get(part).(*goja.Object)
		}
		for _, name := range list.names {
			b.wrap(on, name, list.check)
		}
	}
}

// wrap adds a check to a builtin and keeps its function object. It ignores builtins that the interpreter lacks.
func (b *Bounds) wrap(on *goja.Object, name string, look check) {
	original, ok := on.Get(name).(*goja.Object)
	if !ok {
		return
	}
	native, ok := internals.NativeOf(original)
	if !ok || *native.Call == nil {
		return
	}
	fn := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		b.enter(name)
		defer b.leave()
		c = b.converted(name, c)
		look(b, name, c)
		return fn(c)
	}
}
