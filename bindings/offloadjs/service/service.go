// Package service holds the services of a script: functions of the script and of the embedding program that kernels call.
//
// # Design
//
// Handlers of services run on the event loop, because they may use every object of the script. A handler that waits for its
// own kernel is an error, found through the positions that queues wait for.
package service

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

const (
	defaultDeadline = 30 * time.Second
	mostOneWay      = 4096 // maximum number of queued one-way calls; further calls block
)

// Registry implements the export rpc and holds the services that kernels can call.
type Registry struct {
	*script.Script
	session *session.Session
	typeOf  func(goja.Value) (element.Type, bool)

	mu       sync.RWMutex
	services map[string]*service
	scripted atomic.Bool // the script has declared a service at some time

	requests requestQueue
	handling *request // the request whose handler runs or has resumed from an await
	handlers int      // number of running handlers
	noQueue  *services
	perQueue map[*session.Queue]*services // of queues whose kernels call services
	settling struct {
		sync.Mutex
		more map[wait]bool // waits of ServeUntilDone; true after further commands
	}
}

// New returns the registry of a script with the services of the embedding program, which [Check] has accepted. typeOf returns
// the element type of a script's value.
func New(s *script.Script, on *session.Session, typeOf func(goja.Value) (element.Type, bool), host []Host) *Registry {
	r := &Registry{Script: s, session: on, typeOf: typeOf, requests: newRequestQueue(), perQueue: map[*session.Queue]*services{}}
	r.noQueue = &services{registry: r}
	r.services, _ = hostServices(host) // Check has reported any error
	return r
}

// Class returns the class of the export rpc.
func (r *Registry) Class() *lang.Class[*Registry] {
	return lang.NewClass(r.Engine, lang.ClassSpec[*Registry]{
		Name:    "RPC",
		Methods: []lang.Method[*Registry]{script.Method(r.Script, "on", (*Registry).onService), script.Method(r.Script, "off", (*Registry).offService)},
		Fields:  []lang.Field[*Registry]{script.Field(r.Script, "services", (*Registry).listServices), script.Field(r.Script, "ports", (*Registry).listPorts)},
		Inspect: func(r *Registry, _ inspect.Options) string { return r.inspect() },
	})
}

// service is a function of the script or of the embedding program that kernels call with g.call.
type service struct {
	name        string
	args        []ir.Type
	result      ir.Type // Void if the service returns nothing
	oneWay      bool
	deadline    time.Duration // 0 means none
	fn          goja.Callable // nil for a Go function
	host        func(ctx context.Context, values []uint64) (uint64, error)
	withContext bool // host uses its context
	atOnce      bool // host never blocks
	takesCall   bool // the handler's last parameter describes the calling work-item

	calls, failures atomic.Int64
	timed, spent    atomic.Int64 // number of timed calls, and their total time in nanoseconds, to the answer or a one-way handler's end
}

// timeEvery is the number of calls of a Go function per timed call. Reading the clock takes a tenth of a short call.
const timeEvery = 16

// recordTime adds the time of a call that began at start.
func (s *service) recordTime(start time.Time) {
	s.spent.Add(int64(time.Since(start)))
	s.timed.Add(1)
}

// meanTime returns the mean time of the timed calls, or 0.
func (s *service) meanTime() time.Duration {
	n := s.timed.Load()
	if n == 0 {
		return 0
	}
	return time.Duration(s.spent.Load() / n)
}

var serviceName = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$.:/-]*$`) }}

// onService implements rpc.on(name, {args, result, oneWay, deadline}?, handler).
func (r *Registry) onService(call goja.FunctionCall) (goja.Value, error) {
	const op = "rpc"
	name, ok := element.Exported(call.Argument(0)).(string)
	if !ok || !serviceName.Get().MatchString(name) {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the name of a service is a text that begins with a letter, not %s", convert.Describe(call.Argument(0))).
			WithHint("write rpc.on('loss', { args: [i32, f32] }, (step, loss) => …)")
	}
	declared, handler := call.Argument(1), call.Argument(2)
	if _, isFunction := goja.AssertFunction(declared); isFunction && goja.IsUndefined(handler) {
		declared, handler = goja.Undefined(), declared
	}
	fn, ok := goja.AssertFunction(handler)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the handler of %s is not a function, but %s", name, convert.Describe(handler))
	}
	o := r.Options.Parse(op, declared, "args", "result", "oneWay", "deadline")
	s := &service{name: name, fn: fn, oneWay: o.Bool("oneWay", false), deadline: defaultDeadline}
	if v := o.Get("deadline"); v != nil && !goja.IsUndefined(v) {
		if n, err := element.Number(v); err == nil && n == 0 {
			s.deadline = 0
		} else {
			s.deadline = o.Milliseconds("deadline")
		}
	}
	if v := o.Get("result"); o.Err == nil && v != nil && !goja.IsUndefined(v) {
		if s.result, o.Err = r.serviceType(name, "result", v); s.oneWay && o.Err == nil {
			o.Fail("the one-way service %s has no result", name)
		}
	}
	if v := o.Get("args"); o.Err == nil && v != nil && !goja.IsUndefined(v) {
		s.args, o.Err = r.serviceTypes(name, v)
	}
	if o.Err != nil {
		return nil, o.Err
	}
	if length := handler.(*goja.Object).Get("length"); length != nil {
		s.takesCall = length.ToInteger() > int64(len(s.args))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if had := r.services[name]; had != nil && had.host != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the program that runs the script offers a service named %s", name).WithHint("choose another name")
	}
	r.services[name] = s
	if !r.scripted.Load() {
		r.VM.SetAsyncContextTracker(handlings{r})
	}
	r.scripted.Store(true)
	return goja.Undefined(), nil
}

func (r *Registry) serviceTypes(name string, v goja.Value) (types []ir.Type, err error) {
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return nil, contract.Errorf(contract.InvalidArgument, "rpc", "args of %s is a list of types, not %s", name, convert.Describe(v)).
			WithHint("write args: [i32, f32]")
	}
	for i := range int(list.Get("length").ToInteger()) {
		t, err := r.serviceType(name, fmt.Sprintf("args[%d]", i), list.Get(fmt.Sprint(i)))
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

func (r *Registry) serviceType(name, what string, v goja.Value) (ir.Type, error) {
	if v == nil {
		v = goja.Undefined()
	}
	t, ok := r.typeOf(v)
	if !ok || t.Elem.Record != nil || t.Elem.Scalar.Size() < 4 && t.Elem.Scalar != ir.Bool {
		return ir.Void, contract.Errorf(contract.InvalidArgument, "rpc", "%s of %s is %s", what, name, convert.Describe(v)).
			WithHint("services take and return the types that kernels compute with: bool, i32, u32, i64, u64, f32, f64")
	}
	return t.Elem.Scalar, nil
}

// offService implements rpc.off(name). It returns whether there was the service. Later launches of kernels that call the service
// fail, and so do later calls by running kernels. It returns an error for a service of the embedding program.
func (r *Registry) offService(call goja.FunctionCall) (goja.Value, error) {
	name := call.Argument(0).String()
	r.mu.Lock()
	defer r.mu.Unlock()
	s, had := r.services[name]
	if had && s.host != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "rpc", "the service %s belongs to the program that runs the script", name)
	}
	delete(r.services, name)
	return r.VM.ToValue(had), nil
}

// listServices implements rpc.services, which returns the services by name with their signatures and counters.
func (r *Registry) listServices() (goja.Value, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		s := r.services[name]
		list = append(list, r.Object(
			script.Pair{"name", name},
			script.Pair{"signature", s.signature()},
			script.Pair{"oneWay", s.oneWay},
			script.Pair{"deadline", s.deadline.Milliseconds()},
			script.Pair{"calls", s.calls.Load()},
			script.Pair{"failures", s.failures.Load()},
			script.Pair{"meanTime", float64(s.meanTime()) / 1e6},
		))
	}
	return r.VM.NewArray(list...), nil
}

func (r *Registry) inspect() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		s := r.services[name]
		text := fmt.Sprintf("%s%s, %d calls", name, s.signature(), s.calls.Load())
		if n := s.failures.Load(); n > 0 {
			text += fmt.Sprintf(", %d failed", n)
		}
		if mean := s.meanTime(); mean > 0 {
			text += fmt.Sprintf(", %v each", mean)
		}
		names = append(names, text)
	}
	return "RPC { " + strings.Join(append(names, ""), "; ") + "}"
}

func (s *service) signature() string {
	var args []string
	for _, t := range s.args {
		args = append(args, t.String())
	}
	result := "void"
	if s.result != ir.Void {
		result = s.result.String()
	}
	return fmt.Sprintf("(%s): %s", strings.Join(args, ", "), result)
}

// listPorts implements rpc.ports, which returns the ports that native code calls the host through, by library and device.
func (r *Registry) listPorts() (goja.Value, error) {
	list := []any{}
	for _, c := range r.session.Channels() {
		busy, calls := []any{}, []script.Pair{}
		for _, p := range c.Busy {
			busy = append(busy, r.Object(script.Pair{"port", p.Index}, script.Pair{"operation", p.Operation}, script.Pair{"waits", p.Waits}))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Calls)) {
			calls = append(calls, script.Pair{name, c.Calls[name]})
		}
		list = append(list, r.Object(
			script.Pair{"device", c.Device.ID()},
			script.Pair{"library", c.Library},
			script.Pair{"ports", c.Ports},
			script.Pair{"busy", r.VM.NewArray(busy...)},
			script.Pair{"calls", r.Object(calls...)},
		))
	}
	return r.VM.NewArray(list...), nil
}

// find returns the service with a name, or an error with advice if there is none.
func (r *Registry) find(name string) (*service, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s := r.services[name]; s != nil {
		return s, nil
	}
	err := contract.Errorf(contract.NotFound, "call", "no service is named %q", name)
	if near := spelling.Nearest(name, slices.Collect(maps.Keys(r.services))); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	return nil, err.WithHint("offer it before the launch: rpc.on('%s', { args: […] }, (…) => …)", name)
}

// CheckCalls returns an error for the first call of a kernel that does not match the current services.
func (r *Registry) CheckCalls(op, label string, c *kernel.Compiled) error {
	var err error
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Call || err != nil {
			return
		}
		s, wrong := r.find(in.Fn)
		if wrong == nil {
			types := make([]ir.Type, len(in.Args))
			for i, a := range in.Args {
				types[i] = a.Type
			}
			result := ir.Void
			if len(in.Results) > 0 {
				result = in.Results[0].Type
			}
			wrong = s.fits(types, result)
		}
		var known *contract.Error
		if errors.As(wrong, &known) {
			e := *known
			e.Op, e.Label, e.Pos = op, label, siteOf(c, in.Site)
			err = &script.RefusedLaunch{Cause: &e, At: r.Engine.Caller()}
		}
	})
	return err
}

// siteOf returns the script position of a site, or the zero position for a number that is no site.
func siteOf(c *kernel.Compiled, site int) (p contract.Position) {
	if site >= 0 && site < len(c.Kernel.Sites) {
		s := &c.Kernel.Sites[site]
		p.Line, p.Col = s.Line, s.Col
		if s.File >= 0 && s.File < len(c.Module.Files) {
			p.File = c.Module.Files[s.File]
		}
	}
	return p
}

// fits returns an error unless the service accepts arguments and a result of these types.
func (s *service) fits(args []ir.Type, result ir.Type) error {
	fail := func(format string, values ...any) *contract.Error {
		return contract.Errorf(contract.InvalidArgument, "call", "g.call('%s'): %s", s.name, fmt.Sprintf(format, values...)).
			WithHint("the service is %s%s", s.name, s.signature())
	}
	if len(args) != len(s.args) {
		return fail("the kernel passes %s, and the service takes %d", spelling.Count(len(args), "value"), len(s.args))
	}
	for i, t := range args {
		if !convertible(t, s.args[i]) {
			return fail("argument %d is %s, and the service takes %s", i+1, t, s.args[i])
		}
	}
	if result != ir.Void && s.result == ir.Void {
		return fail("the kernel uses its result, and the service has none")
	}
	if result != ir.Void && !convertible(s.result, result) {
		return fail("the kernel uses its result as %s, and the service returns %s", result, s.result).
			WithHint("write %s(g.call('%s', …))", s.result, s.name)
	}
	return nil
}

// convertible reports whether calls convert values of one type to another: bool to bool only, floats to floats, and integers to
// integers and floats.
func convertible(from, to ir.Type) bool {
	if (from == ir.Bool) != (to == ir.Bool) {
		return false
	}
	return !from.IsFloat() || to.IsFloat()
}

// fromContract converts a type of the contract to the kernel language's.
func fromContract(t contract.Type) ir.Type {
	return kernelTypes[t]
}

var kernelTypes = func() (types [256]ir.Type) {
	for t := contract.Bool; t <= contract.F64; t++ {
		types[t], _ = ir.ParseType(t.String())
	}
	return types
}()

// converted converts the bits of a number to another type. Floats, and integers that become floats, are rounded. It returns an error
// for an integer that another integer type does not hold.
func converted(bits uint64, from, to ir.Type) (uint64, error) {
	switch {
	case from == to:
		return bits, nil
	case from == ir.F32:
		return scalar.Round(to, float64(math.Float32frombits(uint32(bits)))), nil
	case from == ir.F64:
		return scalar.Round(to, math.Float64frombits(bits)), nil
	}
	n := new(big.Int).SetUint64(bits)
	switch from {
	case ir.I32:
		n.SetInt64(int64(int32(bits)))
	case ir.I64:
		n.SetInt64(int64(bits))
	}
	if to.IsFloat() {
		return scalar.RoundInt(to, n), nil
	}
	return element.BigBits(to, n)
}

// valueOf converts bits to a script value of a declared type.
func (r *Registry) valueOf(bits uint64, from, to ir.Type) (goja.Value, error) {
	bits, err := converted(bits, from, to)
	if err != nil {
		return nil, err
	}
	var data [8]byte
	binary.LittleEndian.PutUint64(data[:], bits)
	return element.ScalarValue(r.VM, to, data[:]), nil
}

// bitsOf converts a handler's result to the declared type, then to the type that the kernel uses, unless that is Void.
func bitsOf(v goja.Value, declared, used ir.Type) (uint64, error) {
	bits, err := element.Bits(declared, v)
	if err != nil || used == ir.Void {
		return bits, err
	}
	return converted(bits, declared, used)
}

// serve handles a kernel's call of a service. A Go function runs on the kernel's goroutine. A handler of the script runs on the
// event loop, and serve waits for its result unless the service is one-way. It fails if the deadline of the service expires first,
// or ctx or the engine ends.
func (r *Registry) serve(ctx context.Context, on *session.Queue, call *contract.Request) (uint64, error) {
	s, err := r.find(call.Name)
	if err != nil {
		return 0, err
	}
	var backing [8]ir.Type
	types := backing[:0]
	for _, a := range call.Args {
		types = append(types, fromContract(a.Type))
	}
	if err := s.fits(types, fromContract(call.Result)); err != nil {
		return 0, err
	}
	if on != nil {
		if line := r.session.Trace(); line != nil {
			defer line.Service(on.Device().ID(), call)()
		}
	}
	n := s.calls.Add(1)
	if s.host != nil {
		if n%timeEvery == 1 {
			defer s.recordTime(time.Now())
		}
		if s.withContext {
			ctx = r.Engine.WithValues(ctx)
		}
		return s.serveHost(ctx, call)
	}
	q := &request{service: s, start: time.Now(), queue: on, message: call.Message, args: slices.Clone(call.Args), result: fromContract(call.Result), answer: make(chan answer, 1)}
	if err := r.requests.put(ctx, r, q); err != nil {
		return 0, err
	}
	if s.oneWay {
		return 0, nil
	}
	var late <-chan time.Time
	if s.deadline > 0 {
		timer := time.NewTimer(s.deadline)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case a := <-q.answer:
		if a.err != nil {
			s.failures.Add(1)
		}
		return a.bits, a.err
	case <-ctx.Done():
		q.abandoned.Store(true)
		return 0, context.Cause(ctx)
	case <-r.Engine.Context().Done():
		q.abandoned.Store(true)
		return 0, contract.Errorf(contract.Closed, "call", "the script that offers %s has ended", s.name)
	case <-late:
		q.abandoned.Store(true)
		s.failures.Add(1)
		return 0, contract.Errorf(contract.Timeout, "call", "the service %s did not answer within %v", s.name, s.deadline).
			WithHint("handlers run while the script awaits, and cannot wait for their own kernel, not even through a timer; rpc.on takes a longer deadline, in milliseconds")
	}
}
