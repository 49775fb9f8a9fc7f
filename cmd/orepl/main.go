// Command orepl runs scripts that drive accelerators. See orepl help.
package main

import (
	"os"

	"github.com/orepl/orepl/cmd/orepl/command"
)

func main() { os.Exit(command.Main(command.Options{})) }
