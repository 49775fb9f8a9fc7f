// Package portable is shared by plugins that load portable kernel IR, including plugins outside of this module. It decodes
// images, caches compilation results, describes kernels, binds arguments, evaluates launch facts, and converts faults.
//
// # Design
//
// The package is public, because a plugin outside of this module cannot import internal ones.
package portable

import (
	"unsafe"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

// Decode returns the module of an image, including the library functions that its kernels call. The bytes are untrusted:
// the error for invalid ones is InvalidBinary.
func Decode(img *offload.Image) (*ir.Module, error) {
	m, err := ir.DecodeBinary(img.Data)
	if err == nil {
		err = kernels.New().Expand(m)
	}
	if err != nil {
		return nil, &offload.Error{Code: offload.InvalidBinary, Op: "load", Label: img.Label, Err: err}
	}
	return m, nil
}

// Describe returns the contract's description of a kernel. GroupItems is the interpreter's limit.
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

// TypeOf returns the contract's type of an IR type. It is Opaque for types that the contract lacks, such as records.
func TypeOf(t ir.Type) offload.Type {
	return types.Get()[t]
}

var types = later.Value[*[256]offload.Type]{Make: func() *[256]offload.Type {
	list := new([256]offload.Type)
	for t := range list {
		list[t], _ = offload.ParseType(ir.Type(t).String())
	}
	return list
}}

// Bind checks an argument of a launch and converts it for the interpreter. data is the memory of a buffer from its start, nil
// for a scalar.
func Bind(p *offload.Param, a *offload.Arg, data []byte) (interp.Arg, *offload.Error) {
	if err := p.Check(a, int64(len(data))); err != nil {
		return interp.Arg{}, err
	}
	if !p.Buffer {
		return interp.Arg{Bits: a.Bits}, nil
	}
	data = data[a.Offset:]
	bytes, _ := p.Bytes(a)
	return interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(data)), Bytes: int(bytes), Dims: a.Dims}, nil
}

// BindAll appends the bound arguments of a launch to a list. bytes returns the memory of a buffer. BindAll returns an error for a
// wrong number of arguments, for an argument that [offload.Param.Check] refuses, and for an error of bytes.
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
