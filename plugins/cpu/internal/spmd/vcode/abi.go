package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"

func CtxMem(off, size int) Mem { return Mem{Fixed: abi.Context, Disp: int32(off), Size: uint8(size)} }

func FrameMem(off, size int) Mem { return Mem{Fixed: abi.Frame, Disp: int32(off), Size: uint8(size)} }
