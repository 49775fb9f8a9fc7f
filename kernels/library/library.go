// Package library is the script module 'kernels': functions in the kernel language that kernels call, which the front end
// inlines into them. A function is text, so every device and the interpreter run the same operations.
package library

import (
	"embed"
	"strings"
)

//go:embed *.js
var files embed.FS

// Source returns the module's text: its files in the order of their names, which share one scope.
func Source() string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var text strings.Builder
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		text.Write(data)
	}
	return text.String()
}
