// Package command is the command orepl, for programs that add their own plugins and modules.
package command

import (
	"fmt"
	"os"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/cmd/orepl/internal/app"
	_ "github.com/orepl/orepl/cmd/orepl/internal/early" // grows the stack
	"github.com/orepl/orepl/cmd/orepl/internal/placement"
	"github.com/orepl/orepl/cmd/orepl/internal/status"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/offload"
)

// Options name the plugins and modules that a program adds to the command.
type Options struct {
	Plugins []offload.Plugin // beside orepl's; their names must be unique
	Modules []orepl.Module   // that scripts of all commands can import, such as those that check, describe and test load
}

// Main runs this process's command line and returns the exit code. In a process that was started to isolate a script, it serves
// that script's engine and does not return.
func Main(opts Options) int {
	if err := placement.TakeShare(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return app.ExitFailed
	}
	plugins := append(all.Plugins(), opts.Plugins...)
	mpi.EndWithLauncher()
	app.ServeIsolated(plugins, opts.Modules)
	status.Begin()
	code := app.Main(app.System{
		Args: os.Args[1:], Env: os.Environ(), Plugins: plugins, Modules: opts.Modules,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	told := status.HandOver(code) // reported before MPI ends, which may take long
	if err := mpi.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, "error: the end of the MPI job:", err)
		if code == app.ExitOK {
			told = status.HandOver(app.ExitFailed)
		}
	}
	return told
}
