package spmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// dump writes a function to files of a folder: before the first pass, and after each one.
type dump struct {
	dir, name string // dir is empty if dumping is disabled
	number    int    // of the next file
	err       error  // the first error
}

// write writes the function after a pass, if dumping is enabled and no earlier write has failed. It keeps its error in d.err.
func (d *dump) write(pass string, f fmt.Stringer) {
	if d.dir == "" || d.err != nil {
		return
	}
	file := filepath.Join(d.dir, fmt.Sprintf("%s.%02d-%s.txt", d.name, d.number, pass))
	d.number++
	if d.err = os.MkdirAll(d.dir, 0o755); d.err == nil {
		d.err = os.WriteFile(file, []byte(f.String()), 0o644)
	}
	if d.err != nil {
		d.err = fmt.Errorf("the dump of the passes cannot be written: %w", d.err)
	}
}

// dumpName returns the prefix of a kernel's file names: its name and the variant.
func dumpName(k *ir.Kernel, o plan.Options, s Spec) string {
	name := []string{strings.Map(fileRune, k.Name), o.Target.Name, fmt.Sprintf("gang%d", s.Gang)}
	for _, part := range []struct {
		set  bool
		name string
	}{
		{o.Unchecked, "unchecked"}, {s.Whole, "whole"}, {s.Adjacent, "adjacent"}, {s.IsOneGang(), "one-gang"}, {s.Is2D(), "2d"},
		{s.WithinExtents, "within"}, {s.IndicesProved, "proved"},
		{s.Stores == plan.NonTemporalStores, "streamed"}, {s.Stores == plan.HalfLineStores, "half-lines"},
	} {
		if part.set {
			name = append(name, part.name)
		}
	}
	return strings.Join(name, ".")
}

// fileRune returns _ for a character that is invalid in file names on some systems, and other characters unchanged.
func fileRune(r rune) rune {
	if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
		return '_'
	}
	return r
}
