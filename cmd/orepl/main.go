// Command orepl runs scripts that drive accelerators. See orepl help.
package main

import (
	"os"

	"github.com/orepl/orepl/cmd/orepl/internal/app"
)

func main() {
	app.ServeIsolated()
	os.Exit(app.Main(app.System{
		Args: os.Args[1:], Env: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}
