// Package wrong has a function without a body and a value of a wrong type.
package wrong

func missing()

var number int = "text"
