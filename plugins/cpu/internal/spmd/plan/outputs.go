package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// LeastStreamed is the divisor of the last-level cache's size above which outputs are streamed.
const LeastStreamed = 4

// Streamed reports whether a buffer has non-temporal stores where the variant has them.
func (l *Analysis) Streamed(a *ir.Array) bool {
	return l.Spec.Stores == NonTemporalStores && l.outputs.Streamed[a.ID]
}
