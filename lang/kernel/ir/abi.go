package ir

// ABI describes a kernel to the host that launches it.
type ABI struct {
	Kernel        string
	Args          []ArgABI
	SharedBytes   int  // shared arrays together, each aligned to its elements
	PrivateBytes  int  // private arrays of one work-item together
	ObservesGroup bool // see [Kernel.ObservesGroup]
	UsesSubgroups bool // results may depend on the device's subgroup width
	Services      []string
}

// ArgABI is one argument of a launch.
type ArgABI struct {
	Name   string
	Scalar Type   // of a scalar; Void for a buffer
	Elem   Elem   // of a buffer
	Rank   int    // of a buffer
	Access Access // of a buffer
}

// ABI summarizes the kernel for its callers.
func (k *Kernel) ABI() ABI {
	abi := ABI{Kernel: k.Name, ObservesGroup: k.ObservesGroup(), Services: k.Services()}
	access := k.Access()
	for _, p := range k.Params {
		arg := ArgABI{Name: p.Name, Scalar: p.Type}
		if p.Array != nil {
			arg = ArgABI{Name: p.Name, Elem: p.Array.Elem, Rank: p.Array.Rank, Access: access[p.Array.ID]}
		}
		abi.Args = append(abi.Args, arg)
	}
	place := func(total *int, a *Array) {
		align := a.Elem.Align()
		*total = (*total+align-1)/align*align + a.Bytes()
	}
	for _, a := range k.Arrays {
		switch a.Space {
		case Shared:
			place(&abi.SharedBytes, a)
		case Private:
			place(&abi.PrivateBytes, a)
		}
	}
	k.Body.Walk(func(in *Instr) {
		abi.UsesSubgroups = abi.UsesSubgroups || in.Op == Subgroup || in.Op == Item && (in.Item == Lane || in.Item == SubgroupSize)
	})
	return abi
}
