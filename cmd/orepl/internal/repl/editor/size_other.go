//go:build !unix

package editor

import "os"

// size is what is assumed: the terminal is not asked.
func size(*os.File) (columns, rows int) { return defaultColumns, defaultRows }
