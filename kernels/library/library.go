// Package library is the script module 'kernels': functions in the kernel language, which the front end inlines into
// kernels. They are source text, so every device and the interpreter run the same operations.
//
// # Design
//
// The functions are text and not IR, because they take other functions and arrays of any type. The front end inlines them
// with the types of each call.
//
// Group functions take scratch memory as an argument, so a kernel decides its type and uses one array for several calls.
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
