package app

import (
	"context"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/offload"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/plugins/all"
)

// ServeIsolated is the life of a process that orepl run --isolate started; in any other it does nothing.
func ServeIsolated() {
	isolate.Serve(func(o lang.Options) (*lang.Engine, func() error, error) {
		rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
		e, err := rt.NewEngine(o)
		return e, func() error { return offload.Explain(e, rt.Close(context.Background())) }, err
	})
}

// isolated runs a file in a process of its own.
func (inv *invocation) isolated(path string, opts lang.Options) error {
	e, err := isolate.Start(inv.ctx, inv.engineOptions(opts))
	if err != nil {
		return err
	}
	_, err = e.RunFile(inv.ctx, path)
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	return err
}
