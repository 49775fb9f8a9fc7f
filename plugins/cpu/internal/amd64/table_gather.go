package amd64

// gatherForms are gathers, scatters, compressions and expansions, and instructions on the state of vector registers.
var gatherForms = []form{
	// Gathers: by a write mask, or with AVX2 by the sign bits of a vector.
	{VGATHERDPS, args{vL, ixL, vL}, rmv, vex | p66 | o0F38, 0x92, xy | distinct, AVX2},
	{VGATHERDPS, args{vL, ixL}, rm, evex | p66 | o0F38, 0x92, xyz | k1 | kneeds | distinct | n4, 0},
	{VGATHERDPD, args{vL, ixH, vL}, rmv, vex | p66 | o0F38 | vw1, 0x92, xy | distinct, AVX2},
	{VGATHERDPD, args{vL, ixH}, rm, evex | p66 | o0F38 | ew1, 0x92, xyz | k1 | kneeds | distinct | n8, 0},
	{VGATHERQPS, args{vH, ixL, vH}, rmv, vex | p66 | o0F38, 0x93, xy | distinct, AVX2},
	{VGATHERQPS, args{vH, ixL}, rm, evex | p66 | o0F38, 0x93, xyz | k1 | kneeds | distinct | n4, 0},
	{VGATHERQPD, args{vL, ixL, vL}, rmv, vex | p66 | o0F38 | vw1, 0x93, xy | distinct, AVX2},
	{VGATHERQPD, args{vL, ixL}, rm, evex | p66 | o0F38 | ew1, 0x93, xyz | k1 | kneeds | distinct | n8, 0},
	{VPGATHERDD, args{vL, ixL, vL}, rmv, vex | p66 | o0F38, 0x90, xy | distinct, AVX2},
	{VPGATHERDD, args{vL, ixL}, rm, evex | p66 | o0F38, 0x90, xyz | k1 | kneeds | distinct | n4, 0},
	{VPGATHERDQ, args{vL, ixH, vL}, rmv, vex | p66 | o0F38 | vw1, 0x90, xy | distinct, AVX2},
	{VPGATHERDQ, args{vL, ixH}, rm, evex | p66 | o0F38 | ew1, 0x90, xyz | k1 | kneeds | distinct | n8, 0},
	{VPGATHERQD, args{vH, ixL, vH}, rmv, vex | p66 | o0F38, 0x91, xy | distinct, AVX2},
	{VPGATHERQD, args{vH, ixL}, rm, evex | p66 | o0F38, 0x91, xyz | k1 | kneeds | distinct | n4, 0},
	{VPGATHERQQ, args{vL, ixL, vL}, rmv, vex | p66 | o0F38 | vw1, 0x91, xy | distinct, AVX2},
	{VPGATHERQQ, args{vL, ixL}, rm, evex | p66 | o0F38 | ew1, 0x91, xyz | k1 | kneeds | distinct | n8, 0},

	// Scatters.
	{VSCATTERDPS, args{ixL, vL}, mr, evex | p66 | o0F38, 0xA2, xyz | k1 | kneeds | n4, 0},
	{VSCATTERDPD, args{ixH, vL}, mr, evex | p66 | o0F38 | ew1, 0xA2, xyz | k1 | kneeds | n8, 0},
	{VSCATTERQPS, args{ixL, vH}, mr, evex | p66 | o0F38, 0xA3, xyz | k1 | kneeds | n4, 0},
	{VSCATTERQPD, args{ixL, vL}, mr, evex | p66 | o0F38 | ew1, 0xA3, xyz | k1 | kneeds | n8, 0},
	{VPSCATTERDD, args{ixL, vL}, mr, evex | p66 | o0F38, 0xA0, xyz | k1 | kneeds | n4, 0},
	{VPSCATTERDQ, args{ixH, vL}, mr, evex | p66 | o0F38 | ew1, 0xA0, xyz | k1 | kneeds | n8, 0},
	{VPSCATTERQD, args{ixL, vH}, mr, evex | p66 | o0F38, 0xA1, xyz | k1 | kneeds | n4, 0},
	{VPSCATTERQQ, args{ixL, vL}, mr, evex | p66 | o0F38 | ew1, 0xA1, xyz | k1 | kneeds | n8, 0},

	// Compression and expansion of the lanes of a mask.
	{VCOMPRESSPS, args{vLm, vL}, mr, evex | p66 | o0F38, 0x8A, xyz | kz | n4, 0},
	{VEXPANDPS, args{vL, vLm}, rm, evex | p66 | o0F38, 0x88, xyz | kz | n4, 0},
	{VCOMPRESSPD, args{vLm, vL}, mr, evex | p66 | o0F38 | ew1, 0x8A, xyz | kz | n8, 0},
	{VEXPANDPD, args{vL, vLm}, rm, evex | p66 | o0F38 | ew1, 0x88, xyz | kz | n8, 0},
	{VPCOMPRESSD, args{vLm, vL}, mr, evex | p66 | o0F38, 0x8B, xyz | kz | n4, 0},
	{VPEXPANDD, args{vL, vLm}, rm, evex | p66 | o0F38, 0x89, xyz | kz | n4, 0},
	{VPCOMPRESSQ, args{vLm, vL}, mr, evex | p66 | o0F38 | ew1, 0x8B, xyz | kz | n8, 0},
	{VPEXPANDQ, args{vL, vLm}, rm, evex | p66 | o0F38 | ew1, 0x89, xyz | kz | n8, 0},
	{VPCOMPRESSB, args{vLm, vL}, mr, evex | p66 | o0F38, 0x63, xyz | kz | n1, VBMI2},
	{VPEXPANDB, args{vL, vLm}, rm, evex | p66 | o0F38, 0x62, xyz | kz | n1, VBMI2},
	{VPCOMPRESSW, args{vLm, vL}, mr, evex | p66 | o0F38 | ew1, 0x63, xyz | kz | n2, VBMI2},
	{VPEXPANDW, args{vL, vLm}, rm, evex | p66 | o0F38 | ew1, 0x62, xyz | kz | n2, VBMI2},

	// State.
	{VZEROUPPER, args{}, noOperands, vex | o0F, 0x77, 0, AVX},
	{VZEROALL, args{}, noOperands, vex | o0F | l1, 0x77, 0, AVX},
	{VLDMXCSR, args{m32}, m, vex | o0F | d2, 0xAE, 0, AVX},
	{VSTMXCSR, args{m32}, m, vex | o0F | d3, 0xAE, 0, AVX},
}
