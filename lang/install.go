package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/builtins"
)

// mostFrames is the maximum number of open choices of a match of a regular expression, of 16 bytes each.
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
