package amd64_test

import (
	"fmt"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Example emits a loop of y[i] += a * x[i] over masked vectors of 16 lanes.
func Example() {
	const x, y, n, i = amd64.RDI, amd64.RSI, amd64.RDX, amd64.RCX
	a := amd64.New(amd64.AllFeatures)
	a.StartListing()
	loop, done := a.NewLabel(), a.NewLabel()

	scale := a.Const32(0x40490FDB) // π
	a.Emit(amd64.VBROADCASTSS, amd64.Z(0), scale)
	a.Emit(amd64.XOR, amd64.ECX, amd64.ECX)
	a.Bind(loop)
	a.Comment("saxpy.js:3")
	a.Emit(amd64.CMP, i, n)
	a.Emit(amd64.JGE, done)
	a.Emit(amd64.VMOVUPS, amd64.Z(1).Zero(amd64.K1), amd64.Mem{Base: y, Index: i, Scale: 4})
	a.Emit(amd64.VFMADD231PS, amd64.Z(1), amd64.Z(0), amd64.Mem{Base: x, Index: i, Scale: 4})
	a.Emit(amd64.VMOVUPS, amd64.Mem{Base: y, Index: i, Scale: 4, Mask: amd64.K1}, amd64.Z(1))
	a.Emit(amd64.ADD, i, amd64.Imm(16))
	a.Emit(amd64.JMP, loop)
	a.Bind(done)
	a.Emit(amd64.RET)

	code, err := a.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(a.Listing())
	fmt.Println(len(code), "bytes")
	// Output:
	// 	.intel_syntax noprefix
	// 	vbroadcastss zmm0, dword ptr [rip + .L3]
	// 	xor ecx, ecx
	// .L1:
	// 	# saxpy.js:3
	// 	cmp rcx, rdx
	// 	jge .L2
	// 	vmovups zmm1{k1}{z}, zmmword ptr [rsi + rcx*4]
	// 	vfmadd231ps zmm1, zmm0, zmmword ptr [rdi + rcx*4]
	// 	vmovups zmmword ptr [rsi + rcx*4]{k1}, zmm1
	// 	add rcx, 16
	// 	jmp .L1
	// .L2:
	// 	ret
	// 	.balign 64, 0xcc
	// 	.balign 4, 0
	// .L3:
	// 	.byte 0xdb,0x0f,0x49,0x40
	// 68 bytes
}
