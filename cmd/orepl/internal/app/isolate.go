package app

import (
	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/runtime/offload"
)

// ServeIsolated is the life of a process that orepl run --isolate started; in any other it does nothing.
func ServeIsolated(plugins []offload.Plugin) { orepl.ServeIsolated(orepl.Options{Plugins: plugins}) }

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
	if err == nil && e.Status() != 0 {
		err = &lang.ExitError{Code: e.Status()}
	}
	return err
}
