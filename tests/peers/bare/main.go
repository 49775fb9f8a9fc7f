// Command bare is the peer of start-up: a minimal Go program that evaluates a line of JavaScript.
package main

import (
	"fmt"

	"github.com/dop251/goja"
)

func main() {
	v, err := goja.New().RunString("1+1")
	if err != nil {
		panic(err)
	}
	_ = fmt.Sprint(v)
}
