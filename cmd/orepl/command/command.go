// Package command is the command orepl, for programs that add their own plugins.
package command

import (
	"fmt"
	"os"

	"github.com/orepl/orepl/cmd/orepl/internal/app"
	"github.com/orepl/orepl/cmd/orepl/internal/placement"
	"github.com/orepl/orepl/cmd/orepl/internal/status"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/offload"
)

// Main runs this process's command line with orepl's plugins and others, and returns the exit code. Plugin names must be
// unique.
func Main(others ...offload.Plugin) int {
	enlargeStack()
	if err := placement.TakeShare(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return app.ExitFailed
	}
	plugins := append(all.Plugins(), others...)
	mpi.EndWithLauncher()
	app.ServeIsolated(plugins)
	status.Begin()
	code := app.Main(app.System{
		Args: os.Args[1:], Env: os.Environ(), Plugins: plugins,
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
