package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// LeastStreamed is the divisor of the last-level cache's size that yields the minimum size of streamed outputs.
const LeastStreamed = 4

// Streamed reports whether stores to a buffer are non-temporal in variants with such stores.
func (l *Analysis) Streamed(a *ir.Array) bool {
	return l.Spec.Stores == NonTemporalStores && l.outputs.Streamed[a.ID]
}
