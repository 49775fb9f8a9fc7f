package amd64

// floatForms calculate with floating point vectors.
var floatForms = []form{
	{VADDPS, args{vL, vL, vLb}, rvm, both | o0F, 0x58, xyz | kz | er, AVX},
	{VFMADD231PS, args{vL, vL, vLb}, rvm, both | p66 | o0F38, 0xB8, xyz | kz | er, FMA},
}
