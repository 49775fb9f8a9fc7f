// Package include holds the C headers of native device code.
package include

import "embed"

// Headers are the files of this folder that C and C++ include.
//
//go:embed *.h
var Headers embed.FS
