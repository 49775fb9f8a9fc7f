package interp

import "github.com/orepl/orepl/lang/kernel/ir"

// Tracer gets each instruction that an item has run, with the bits of its results. A structured instruction comes after
// what is nested in it; an instruction that ended the item does not come.
type Tracer interface {
	Instr(in *ir.Instr, results []Scalar)
}

// traced makes the step that reports an instruction.
func traced(in *ir.Instr, regs []int) step {
	results := make([]operand, len(in.Results))
	for i, v := range in.Results {
		results[i] = operand{regs[v.ID], v.Type}
	}
	return func(f *frame, lanes []uint8) {
		w := f.w
		if w.launch.Trace == nil {
			return
		}
		for _, i := range lanes {
			if w.item(f.row*width+int(i)) != w.launch.TraceItem {
				continue
			}
			out := make([]Scalar, len(results))
			for k, o := range results {
				out[k] = Scalar{o.t, f.bits(o, i)}
			}
			w.launch.Trace.Instr(in, out)
		}
	}
}
