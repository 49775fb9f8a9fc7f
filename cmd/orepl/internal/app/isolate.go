package app

import (
	"os"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/offload"
)

// ServeIsolated serves an engine and does not return, if orepl run --isolate or an isolated pipeline started this process.
// Otherwise it does nothing.
func ServeIsolated(plugins []offload.Plugin, modules []orepl.Module) {
	orepl.ServeIsolated(orepl.Options{Plugins: plugins, Modules: modules})
}

// isolated runs a file in a separate process, which takes this one's part in an MPI job.
func (inv *invocation) isolated(path string, opts lang.Options) error {
	mpi.Delegate()
	environ, err := job.Reserve(os.Environ(), isolate.FirstFree)
	if err != nil {
		return err
	}
	e, err := isolate.StartIn(inv.ctx, environ, inv.engineOptions(opts))
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
