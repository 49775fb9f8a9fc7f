package app

import (
	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/runtime/offload"
)

// ServeIsolated runs this process for orepl run --isolate, and does not return, if that command started it.
func ServeIsolated(plugins []offload.Plugin) { orepl.ServeIsolated(orepl.Options{Plugins: plugins}) }

// isolated runs a file in a separate process.
func (inv *invocation) isolated(path string, opts lang.Options) error {
	e, err := isolate.Start(inv.ctx, inv.engineOptions(opts))
	if err != nil {
		return err
	}
	_, err = e.RunFile(inv.ctx, path)
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	if err == nil && e.Status() != 0 {
		err = &lang.ExitError{Code: e.Status()}
	}
	return err
}
