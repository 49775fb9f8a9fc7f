package kernel

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestBarriersBehindBreaks checks that barriers require uniform control flow. Variables assigned before a divergent break or
// return make a condition divergent.
func TestBarriersBehindBreaks(t *testing.T) {
	const barrier = " if (n > 0) g.barrier()"
	for text, ok := range map[string]bool{
		"let n = 0; a: { if (g.x > 3) break a; n = 1 }" + barrier:                                                          false,
		"let n = 0; a: { if (w > 3) break a; n = 1 }" + barrier:                                                            true,
		"let n = 0; a: { n = w; if (g.x > 3) break a; k[g.x] = 1 }" + barrier:                                              true,
		"let n = 0; for (; n < 9; n++) if (k[g.x] > n) break;" + barrier:                                                   false,
		"let n = 0; for (; n < 9; n++) if (k[0] > n) break;" + barrier:                                                     true,
		"let n = 0; for (; n < w; n++) if (n > 100) break;" + barrier:                                                      true,
		"let n = 0; while (true) { n++; if (g.x < n) break }" + barrier:                                                    false,
		"let n = 0; do { if (g.x > n) continue; n += 1 } while (n < w);" + barrier:                                         false,
		"let n = 0; for (let i = 0; i < 9; i++) { n = i; if (g.x == i) break }" + barrier:                                  false,
		"let n = 0; for (let i = 0; i < 9; i++) { n = w; if (g.x == i) break }" + barrier:                                  false, // possibly zero iterations
		"let n = w; for (let i = 0; i < 9; i++) { if (g.x == i) break; k[g.x] = i }" + barrier:                             true,
		"let n = 0; a: for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) if (g.x == j) { n = i; break a }" + barrier: false,
		"let n = 0; a: for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) if (w == j) { n = i; break a }" + barrier:   true,
		"let n = 0; switch (g.x) { case 1: n = 1; break; default: n = 2 }" + barrier:                                       false,
		"let n = 0; switch (w) { case 1: n = 1; break; default: n = 2 }" + barrier:                                         true,
		"const f = v => { if (v > 3) return 1; return 2 }; const n = f(g.x);" + barrier:                                    false,
		"const f = v => { if (v > 3) return 1; return 2 }; const n = f(w);" + barrier:                                      true,
		"const f = v => { for (let i = 0; i < 9; i++) if (k[i] > v) return i; return 0 }; const n = f(g.x);" + barrier:     false,
		"const f = v => { for (let i = 0; i < 9; i++) if (k[i] > v) return i; return 0 }; const n = f(w);" + barrier:       true,
		"let n = 0; for (; n < 9; n++) if (k[g.x] > n) break; if (g.uniform(n) > 0) g.barrier()":                           true,
		"let n = 0; for (; n < 9; n++) if (k[g.x] > n) break; if (g.reduce.max(n) > 0) g.barrier()":                        true,
		"let n = 0; for (; n < 9; n++) if (k[g.x] > n) break; if (g.scan.max(n) > 0) g.barrier()":                          false,
		"for (let i = 0; i < w; i++) { g.barrier(); if (g.x > i) continue; k[g.x] = i }":                                   true,
		"for (let i = 0; i < w; i++) { if (g.x > i) continue; g.barrier() }":                                               false,
		"for (let i = 0; i < w; i++) { g.barrier(); if (g.x > i) break }":                                                  false,
		"a: { if (g.x > 3) break a; k[g.x] = 1 } g.barrier()":                                                              true,
		"a: { b: { if (g.x > 3) break a } g.barrier() }":                                                                   false,
		"if (g.x > 3) return; g.barrier()":                                                                                 false,
		"if (w > 3) return; g.barrier()":                                                                                   true,
		"const x = g.x > 3 && g.uniform(w) > 2":                                                                            false,
		"k[g.x] = g.x > 3 ? g.reduce.add(1) : 0":                                                                           false,
		"k[g.x] = w > 3 ? g.reduce.add(1) : 0":                                                                             true,
	} {
		f, err := Parse(&Source{Text: "(g, k, w) => { " + text + " }"})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		// k[0] is uniform only in kernels that do not write k
		_, err = f.Compile([]Arg{{Kind: Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}, {Kind: Scalar, Type: ir.I32}}, Options{})
		var list diag.List
		switch {
		case ok && err != nil:
			t.Errorf("%s: refused: %v", text, err)
		case !ok && (!errors.As(err, &list) || list[0].ID != diag.DivergentGroup):
			t.Errorf("%s: %v, want %s", text, err, diag.DivergentGroup)
		}
	}
}
