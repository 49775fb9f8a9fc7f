// Package array holds the kernels of package bindings/array as text in the kernel language. Each is a function whose free
// names, such as pre and op, stand for functions, types and constants that the operation binds.
package array

import (
	"embed"
	"fmt"
	"regexp"
	"sync"

	"github.com/orepl/orepl/kernels/library"
)

//go:embed *.js
var files embed.FS

// functions returns the texts of the functions by name.
var functions = sync.OnceValue(parse)

func parse() map[string]string {
	// A top-level function ends with a brace on a line of its own.
	function := regexp.MustCompile(`(?ms)^(?:export )?(function (\w+)\(.*?^\})`)
	texts := []string{library.Source()}
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		texts = append(texts, string(data))
	}
	list := map[string]string{}
	for _, text := range texts {
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			if list[m[2]] != "" {
				panic(fmt.Sprintf("two functions are named %s", m[2]))
			}
			list[m[2]] = m[1]
		}
	}
	return list
}

// Text returns the text of a function of this package, or of the module 'kernels'. It returns "" for an unknown name.
func Text(name string) string { return functions()[name] }

// Names returns the names of all functions that [Text] finds, in no order.
func Names() []string {
	names := make([]string, 0, len(functions()))
	for name := range functions() {
		names = append(names, name)
	}
	return names
}
