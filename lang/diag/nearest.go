package diag

import "github.com/orepl/orepl/lang/spelling"

// Nearest finds the name that a person may have meant, as [spelling.Nearest] does, for hints.
func Nearest(name string, candidates []string) string { return spelling.Nearest(name, candidates) }
