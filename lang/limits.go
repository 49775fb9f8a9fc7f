package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/bounds"
	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/internals"
)

// boundsHost implements [bounds.Host].
type boundsHost struct{ *Engine }

func (h boundsHost) Exceeds(limit, more uint64) (used uint64, yes bool) {
	return h.limit.share.Exceeds(limit, more)
}

func (h boundsHost) Poll()                                              { h.poll() }
func (h boundsHost) CheckMemory()                                       { h.checkMemory() }
func (h boundsHost) Text(v goja.Value) (goja.Value, error)              { return h.textValue(v) }
func (h boundsHost) Generators() *goja.Object                           { return h.intrinsics.generators }
func (h boundsHost) Native(expression string) (internals.Native, error) { return h.native(expression) }

// boundBuiltins replaces builtins that differ from ECMAScript, and adds checks to those that may take long or allocate much.
func (e *Engine) boundBuiltins() error {
	l := &e.opts.Limits
	b := bounds.New(e.vm, bounds.Limits{Time: l.Time, Memory: l.Memory, Any: l.bounded()}, boundsHost{e})
	e.limit.bounds = b
	b.Arrays()
	e.intrinsics.spread = b.Spread()
	for _, bound := range []func() error{e.boundCompilers, e.installBuiltins, b.Iterators, b.Bind, e.ownProxyArguments} {
		if err := bound(); err != nil {
			return err
		}
	}
	err := b.Functions()
	json := e.vm.GlobalObject().Get("JSON").(*goja.Object)
	e.intrinsics.parse, _ = goja.AssertFunction(json.Get("parse")) // a Callable is the code at the time when it is made
	e.intrinsics.stringify, _ = goja.AssertFunction(json.Get("stringify"))
	return err
}

// mostFrames is the maximum number of open choices of a match of a regular expression, of 16 bytes each. A limit of memory may
// lower it.
const mostFrames = 1 << 22

// installBuiltins replaces and defines builtins by those of package builtins.
func (e *Engine) installBuiltins() error {
	frames := mostFrames
	if limit := e.opts.Limits.Memory; limit > 0 {
		frames = int(min(uint64(frames), limit/64))
	}
	set, err := builtins.Install(builtins.Host{
		VM: e.vm, Poll: e.poll, Throw: e.Throw, Allocate: e.limit.bounds.Allocate, MostFrames: frames, Post: func(fn func() error) { e.loop.Post(fn) },
		Run:    func(name, text string) (goja.Value, error) { return runOwn(e.vm, name, text) },
		Calls:  e.frames,
		Hidden: []*goja.Symbol{e.objects.hiddenSymbol, e.objects.errorSymbol, e.esm.graph.Mark},
	})
	if err != nil {
		return err
	}
	e.builtins = set
	after := e.loop.AfterTurn
	e.loop.AfterTurn = func() error {
		set.EndTurn()
		return after()
	}
	return nil
}

// joins throws if a string of n bytes, which the script is about to make, exceeds the limit or the machine's memory.
func (e *Engine) joins(n uint64) { e.limit.bounds.Allocate("joining strings", n) }

// poll ends a call whose context has ended or that has exceeded a limit. Long-running natives call it periodically.
func (e *Engine) poll() {
	if e.running.now != nil && e.running.now.Err() != nil {
		e.letInterrupt()
	}
}

// letInterrupt runs an empty script function, so that the interpreter checks for interrupts.
func (e *Engine) letInterrupt() {
	if e.intrinsics.noScript == nil {
		v, err := runOwn(e.vm, "", "(function(){})")
		if err != nil {
			e.Throw(err)
		}
		e.intrinsics.noScript, _ = goja.AssertFunction(v)
	}
	if _, err := e.intrinsics.noScript(nil); err != nil {
		e.Throw(err)
	}
}
