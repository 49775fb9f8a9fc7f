// Package portable has what plugins share that load portable kernel IR: decoding an image, describing its kernels, binding
// arguments, and reporting faults. Plugins outside of this module may import it.
package portable

import (
	"math"
	"unsafe"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// Decode returns the module of an image, with the code of the library functions that its kernels call. The bytes are not
// trusted: what is wrong with them is an InvalidBinary error.
func Decode(img *offload.Image) (*ir.Module, error) {
	m, err := ir.DecodeBinary(img.Data)
	if err == nil && kernels.Needed(m) {
		var library *kernels.Library
		if library, err = kernels.New(); err == nil {
			err = library.Expand(m)
		}
	}
	if err != nil {
		return nil, &offload.Error{Code: offload.InvalidBinary, Op: "load", Label: img.Label, Err: err}
	}
	return m, nil
}

// Describe returns what callers must know of a kernel. The largest group is the interpreter's.
func Describe(k *ir.Kernel) offload.KernelInfo {
	abi := k.ABI()
	info := offload.KernelInfo{
		Name: k.Name, Params: make([]offload.Param, 0, len(abi.Args)),
		ObservesGroup: abi.ObservesGroup, SharedBytes: abi.SharedBytes, GroupItems: interp.MaxGroupItems,
		Services: abi.Services,
	}
	k.Body.Walk(func(in *ir.Instr) { info.Prints = info.Prints || in.Op == ir.Print })
	for _, a := range abi.Args {
		p := offload.Param{Name: a.Name, Type: TypeOf(a.Scalar), Elem: a.Scalar.Size()}
		if a.Rank > 0 {
			p.Buffer, p.Type, p.Elem, p.Rank = true, TypeOf(a.Elem.Scalar), a.Elem.Size(), a.Rank
			p.Reads, p.Writes = a.Access&ir.Reads != 0, a.Access&ir.Writes != 0
		}
		info.Params = append(info.Params, p)
	}
	return info
}

// TypeOf returns the contract's name of a type; records are opaque.
func TypeOf(t ir.Type) offload.Type {
	o, _ := offload.ParseType(t.String())
	return o
}

// Bind returns an argument of a launch for the interpreter's memory layout. data is the memory of a buffer, which the caller
// found; it is nil for a scalar. The error states the parameter and what is wrong.
func Bind(p *offload.Param, a *offload.Arg, data []byte) (interp.Arg, *offload.Error) {
	refuse := func(code offload.Code, format string, args ...any) (interp.Arg, *offload.Error) {
		return interp.Arg{}, offload.Errorf(code, "launch", "parameter "+p.Name+format, args...)
	}
	switch {
	case !p.Buffer && a.Memory != nil:
		return refuse(offload.InvalidArgument, " is a scalar of type %v, and the argument a buffer", p.Type)
	case !p.Buffer && a.Type != p.Type:
		return refuse(offload.InvalidArgument, " has type %v, and the argument type %v", p.Type, a.Type)
	case !p.Buffer:
		return interp.Arg{Bits: a.Bits}, nil
	case a.Memory == nil:
		return refuse(offload.InvalidArgument, " is a buffer, and the argument none")
	case a.Type != p.Type:
		return refuse(offload.InvalidArgument, " is a buffer of %v, and the argument one of %v", p.Type, a.Type)
	case a.Offset < 0 || a.Offset > int64(len(data)):
		return refuse(offload.InvalidSize, ": offset %d leaves the memory of %d bytes", a.Offset, len(data))
	}
	data = data[a.Offset:]
	need, fits := int64(p.Elem), true
	for _, n := range a.Dims[:p.Rank] {
		if n < 0 {
			return refuse(offload.InvalidSize, ": extents %v", a.Dims[:p.Rank])
		}
		fits = fits && (n == 0 || need <= math.MaxInt64/int64(n))
		need *= int64(n)
	}
	if !fits || need > int64(len(data)) {
		return refuse(offload.InvalidSize, ": extents %v of %d bytes leave the %d bytes of memory", a.Dims[:p.Rank], p.Elem, len(data))
	}
	return interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(data)), Bytes: int(need), Dims: a.Dims}, nil
}

// BindAll appends the arguments of a launch to a list. bytes returns the memory of a buffer.
func BindAll(list []interp.Arg, params []offload.Param, args []offload.Arg, bytes func(offload.Memory) ([]byte, error)) ([]interp.Arg, *offload.Error) {
	if len(args) != len(params) {
		return nil, offload.Errorf(offload.InvalidArgument, "launch", "the kernel takes %d arguments and got %d", len(params), len(args))
	}
	for i := range args {
		var data []byte
		if m := args[i].Memory; m != nil {
			var err error
			if data, err = bytes(m); err != nil {
				e := offload.Errorf(offload.CodeOf(err), "launch", "parameter %s", params[i].Name)
				e.Err = err
				return nil, e
			}
		}
		arg, err := Bind(&params[i], &args[i], data)
		if err != nil {
			return nil, err
		}
		list = append(list, arg)
	}
	return list, nil
}
