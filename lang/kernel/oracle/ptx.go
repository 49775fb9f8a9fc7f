package oracle

import (
	"slices"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/emit/ptx/ptxrun"
)

// PTX prints the case's kernel as PTX, parses the text, and runs it in the PTX interpreter. known is as in [Case.Leaves].
func (c *Case) PTX(known bool) (*Outcome, error) {
	target, err := ptx.Target()
	if err != nil {
		return nil, err
	}
	k, group, err := c.lowered(ptx.Unroll(c.Kernel), target, known)
	if err != nil {
		return nil, err
	}
	axes := 1
	for axis := range 3 {
		if c.Size[axis] > 1 || group[axis] > 1 {
			axes = axis + 1
		}
	}
	o := ptx.Options{Axes: axes}
	if known && c.separate() {
		o.ReadOnly = ptx.ReadOnly(c.Kernel)
	}
	text, err := o.Emit(k)
	if err != nil {
		return nil, err
	}
	m, err := ptxrun.Parse(text)
	if err != nil {
		return nil, err
	}
	_, data := c.Bind(words)
	records := records(k)
	args := make([]ptx.Argument, 0, len(c.Args)+1)
	memory := make(ranges, 0, len(c.Args)+1)
	for i := range c.Args {
		a := ptx.Argument{Bits: c.Args[i].Bits, Dims: c.Args[i].Dims}
		if c.Kernel.Params[i].Array != nil {
			a.Address = memory.add(data[i])
		}
		args = append(args, a)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(records))), 4*len(records))
	args = append(args, ptx.Argument{Address: memory.add(bytes), Dims: []int32{int32(len(records))}})
	l := &ptxrun.Launch{Block: group, Params: ptx.AppendArguments(nil, k, args, c.Size), Memory: memory.at, Steps: maxLeafSteps}
	calls := k.Calls(records)
	l.Host = host(calls)
	for axis, n := range c.Size {
		l.Grid[axis] = (n + group[axis] - 1) / group[axis]
	}
	if err := m.Kernels()[0].Run(l); err != nil {
		return nil, err
	}
	return c.outcome(k, group, data, records, calls)
}

// ComparePTX runs the case as PTX and in the IR interpreter, with subgroups of 32 items. The IR interpreter keeps the fault of
// the same item. It returns the outcome of PTX, and how the other differs, or "" if the outcomes agree.
func (c *Case) ComparePTX(known bool) (out *Outcome, diff string, err error) {
	warps := *c
	warps.SubgroupSize = 32
	c = &warps
	got, err := c.PTX(known)
	if err != nil {
		return nil, "", err
	}
	diff, err = c.compareInterp(got)
	return got, diff, err
}

// ranges holds the memory of buffers.
type ranges [][]byte

// add adds the memory of a buffer and returns its address.
func (r *ranges) add(data []byte) uint64 {
	*r = append(*r, data)
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}

// at returns the memory at an address, or nil if the address is invalid.
func (r ranges) at(address uint64, size int) unsafe.Pointer {
	for _, data := range r {
		start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
		if address >= start && address-start+uint64(size) <= uint64(len(data)) {
			return unsafe.Pointer(&data[address-start])
		}
	}
	return nil
}

// separate reports whether no buffer is a view of another.
func (c *Case) separate() bool {
	return !slices.ContainsFunc(c.Args, func(a Arg) bool { return a.Of > 0 })
}
