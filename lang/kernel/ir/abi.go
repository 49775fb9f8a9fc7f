package ir

// ABI describes a kernel's interface to the host.
type ABI struct {
	Kernel        string
	Args          []ArgABI
	SharedBytes   int  // bytes of all shared arrays, each aligned to its elements
	PrivateBytes  int  // bytes of all private arrays per work-item
	ObservesGroup bool // see [Kernel.ObservesGroup]
	UsesSubgroups bool // results may depend on the device's subgroup width
	Services      []string
}

// ArgABI is one argument of a launch.
type ArgABI struct {
	Name   string
	Scalar Type   // Void for a buffer
	Elem   Elem   // element of a buffer
	Rank   int    // rank of a buffer
	Access Access // access to a buffer
}

// ABI returns the kernel's interface.
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
