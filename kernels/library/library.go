// Package library is the script module 'kernels': functions in the kernel language, which the front end inlines into
// kernels. They are source text, so every device and the interpreter run the same operations.
package library

import (
	"embed"
	"strings"
)

//go:embed *.js
var files embed.FS

// Source returns the module's text: the files in order of their names, in one scope.
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
