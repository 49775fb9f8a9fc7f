//go:build !unix

package app

import "os"

// ownStandard returns standard input and output.
func ownStandard() (*standard, error) { return &standard{os.Stdin, os.Stdout}, nil }
