// Command plugin is orepl with a plugin that is not part of it: an invented device with memory of its own, which interprets
// portable kernel IR. docs/plugins.md explains it, step by step.
//
//	go run . devices
//	go run . conform slate:0
//	go run . run script.js
package main

import (
	"os"

	"github.com/orepl/orepl/cmd/orepl/command"
	"github.com/orepl/orepl/runtime/offload"
)

func main() { os.Exit(command.Main(command.Options{Plugins: []offload.Plugin{plugin{}}})) }
