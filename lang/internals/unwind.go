package internals

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// Unwinder empties the stacks of an idle interpreter. An interrupt in an asynchronous function after an await leaves frames on
// them, because goja pops frames only at a return or throw. With leftover frames the interpreter runs no promise jobs, and keeps
// those that were queued before the interrupt. Without frames, an interrupt drops these jobs. The stacks and the queue are only
// accessible by reflection.
type Unwinder struct {
	stacks []reflect.Value // slices
	sp     reflect.Value   // an int
	jobs   reflect.Value   // a slice
}

// stacksOfCalls are the fields with the stacks.
var stacksOfCalls = []string{"callStack", "tryStack", "iterStack", "refStack"}

// NewUnwinder finds the stacks by reflection; it ignores fields that the interpreter's version lacks.
func NewUnwinder(runtime *goja.Runtime) Unwinder {
	var u Unwinder
	whole := reflect.ValueOf(runtime).Elem()
	vm := whole.FieldByName("vm")
	if vm.Kind() != reflect.Pointer || vm.Elem().Kind() != reflect.Struct {
		return u
	}
	field := func(of reflect.Value, name string, kind reflect.Kind) (reflect.Value, bool) {
		f := of.FieldByName(name)
		if !f.IsValid() || f.Kind() != kind {
			return f, false
		}
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), true
	}
	for _, name := range stacksOfCalls {
		if f, ok := field(vm.Elem(), name, reflect.Slice); ok {
			u.stacks = append(u.stacks, f)
		}
	}
	u.sp, _ = field(vm.Elem(), "sp", reflect.Int)
	u.jobs, _ = field(whole, "jobQueue", reflect.Slice)
	return u
}

// Complete reports whether the interpreter has all stacks and the queue.
func (u *Unwinder) Complete() bool {
	return len(u.stacks) == len(stacksOfCalls) && u.sp.CanSet() && u.jobs.CanSet()
}

// Unwind empties the stacks. If there were frames, it also drops the queued jobs, as the interpreter does after other interrupts.
func (u *Unwinder) Unwind() {
	left := false
	for _, s := range u.stacks {
		left = left || s.Len() > 0
		s.SetLen(0)
	}
	if left && u.sp.CanSet() {
		u.sp.SetInt(0)
	}
	if left && u.jobs.CanSet() {
		u.jobs.SetZero()
	}
}
