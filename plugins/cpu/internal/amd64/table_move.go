package amd64

// moveForms move vectors.
var moveForms = []form{
	{VBROADCASTSS, args{vL, xm32}, rm, both | p66 | o0F38, 0x18, xyz | kz, AVX2},
	{VMOVUPS, args{vL, vLm}, rm, both | o0F, 0x10, xyz | kz | swap, AVX},
	{VMOVUPS, args{vLm, vL}, mr, both | o0F, 0x11, xyz | kz, AVX},
}
