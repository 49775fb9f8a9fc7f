	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vpbroadcastd zmm0, dword ptr [rip + .L18]
	vpbroadcastd zmm1, dword ptr [rip + .L19]
	vpbroadcastd zmm2, dword ptr [rip + .L20]
	vpbroadcastd zmm3, dword ptr [rip + .L21]
	vpbroadcastd zmm4, dword ptr [rip + .L22]
	vpbroadcastd zmm5, dword ptr [rip + .L23]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov rdi, qword ptr [rbp + 3208]
.L1:
	mov r8, qword ptr [rbp + 152]
	vmovups zmmword ptr [r8], zmm0
	vmovups zmmword ptr [r8 + 64], zmm0
	vmovups zmmword ptr [r8 + 128], zmm0
	vmovups zmmword ptr [r8 + 192], zmm0
	vmovups zmmword ptr [r8 + 256], zmm0
	vmovups zmmword ptr [r8 + 320], zmm0
	vmovups zmmword ptr [r8 + 384], zmm0
	vmovups zmmword ptr [r8 + 448], zmm0
	vmovups zmmword ptr [r8 + 512], zmm0
	vmovups zmmword ptr [r8 + 576], zmm0
	vmovups zmmword ptr [r8 + 640], zmm0
	vmovups zmmword ptr [r8 + 704], zmm0
	vmovups zmmword ptr [r8 + 768], zmm0
	vmovups zmmword ptr [r8 + 832], zmm0
	vmovups zmmword ptr [r8 + 896], zmm0
	vmovups zmmword ptr [r8 + 960], zmm0
	mov r15, qword ptr [rbp + 16]
	mov r8, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], r8
.L2:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L2
	mov r15, qword ptr [rbp + 16]
.L3:
	mov r8d, dword ptr [r15]
	test r8d, r8d
	je .L5
	mov r8d, dword ptr [r15]
	cmp r8d, -2
	je .L15
	cmp r8d, 1
	je .L6
	cmp r8d, 2
	je .L12
.L4:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
	jmp .L3
.L5:
	mov r8d, dword ptr [rbp + 68]
	imul r8d, dword ptr [rbp + 80]
	add r8d, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 832], rcx
	mov dword ptr [r15 + 20], r8d
	mov r8d, dword ptr [rbp + 68]
	# first = g.group.x * 65536 + g.local.x
	imul ecx, r8d, 65536
	mov qword ptr [r15 + 840], rcx
	# k < 256
	mov ecx, 0
	mov qword ptr [r15 + 848], rcx
	mov dword ptr [r15], 1
	jmp .L4
.L6:
	cmp r15, qword ptr [rbp + 16]
	jne .L9
	mov r8, qword ptr [rbp + 112]
	cmp r8, qword ptr [rbp + 144]
	jne .L9
.L7:
	# k < 256
	mov r8, qword ptr [r15 + 848]
	cmp r8d, 256
	jge .L8
	imul r9d, r8d, 256
	mov r10, qword ptr [r15 + 840]
	mov rcx, qword ptr [r15 + 832]
	add r10d, ecx
	add r10d, r9d
	movsxd r10, r10d
	prefetcht0 [rbx + r10*4 + 2048]
	vmovups zmm6, zmmword ptr [rbx + r10*4]
	vcmpps k1, zmm6, zmm6, 7
	vcmpps k2, zmm6, zmm1, 13
	vcvttps2dq zmm6{k1}{z}, zmm6
	vpblendmd zmm6{k2}, zmm6, zmm2
	vpandd zmm6, zmm6, zmm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	mov r10d, 1
	vmovups ymmword ptr [r15 + 64], ymm6
	vextracti64x4 ymmword ptr [r15 + 96], zmm6, 1
	mov r9d, dword ptr [r15 + 64]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 68]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 72]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 76]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 80]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 84]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 88]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 92]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 96]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 100]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 104]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 108]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 112]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 116]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 120]
	add dword ptr [rdi + r9*4], r10d
	mov r9d, dword ptr [r15 + 124]
	add dword ptr [rdi + r9*4], r10d
	add r8d, 1
	mov qword ptr [r15 + 848], r8
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L7
	mov r15, qword ptr [rbp + 16]
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L16
	jmp .L7
.L8:
	mov r15, qword ptr [rbp + 16]
.L9:
	mov r9, qword ptr [r15 + 848]
	mov r10, qword ptr [r15 + 840]
	mov rcx, qword ptr [r15 + 832]
	add r10d, ecx
.L10:
	# k < 256
	cmp r9d, 256
	jge .L11
	imul r8d, r9d, 256
	mov r12, r10
	add r12d, r8d
	movsxd r12, r12d
	prefetcht0 [rbx + r12*4 + 16384]
	vmovups zmm6, zmmword ptr [rbx + r12*4]
	vcmpps k2, zmm6, zmm6, 7
	vcmpps k1, zmm6, zmm1, 13
	vcvttps2dq zmm6{k2}{z}, zmm6
	vpblendmd zmm6{k1}, zmm6, zmm2
	vpandd zmm6, zmm6, zmm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	mov r12d, 1
	vmovups ymmword ptr [r15 + 64], ymm6
	vextracti64x4 ymmword ptr [r15 + 96], zmm6, 1
	mov r8d, dword ptr [r15 + 64]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 68]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 72]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 76]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 80]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 84]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 88]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 92]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 96]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 100]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 104]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 108]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 112]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 116]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 120]
	add dword ptr [rdi + r8*4], r12d
	mov r8d, dword ptr [r15 + 124]
	add dword ptr [rdi + r8*4], r12d
	add r9d, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L16
	jmp .L10
.L11:
	# g.barrier()
	mov dword ptr [r15], 2
	jmp .L4
.L12:
	# local[g.local.x]
	mov rcx, qword ptr [r15 + 832]
	movsxd r8, ecx
	vcvtdq2ps zmm6, zmmword ptr [rdi + r8*4]
	# Atomics.add(bins, g.local.x, local[g.local.x])
	vmovups zmmword ptr [r15 + 128], zmm6
	lea r8, [rsi + r8*4]
	mov r12d, 65535
.L13:
	tzcnt r10d, r12d
	lea r9, [r8 + r10*4]
	mov r10d, dword ptr [r15 + r10*4 + 128]
	mov eax, dword ptr [r9]
.L14:
	vmovd xmm6, eax
	vmovd xmm7, r10d
	vaddps zmm7, zmm6, zmm7
	vmovdqa64 zmm6, zmm4
	vfixupimmps zmm6, zmm7, zmm5, 0
	vmovd r13d, xmm6
	lock cmpxchg dword ptr [r9], r13d
	jne .L14
	blsr r12d, r12d
	jne .L13
.L15:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L4
	sub qword ptr [rbp + 48], 1
	je .L17
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L16
	mov r13d, dword ptr [rbp + 68]
	add r13d, 1
	mov dword ptr [rbp + 68], r13d
	cmp r13d, dword ptr [rbp + 92]
	jl .L1
	mov dword ptr [rbp + 68], 0
	mov r13d, dword ptr [rbp + 72]
	add r13d, 1
	mov dword ptr [rbp + 72], r13d
	cmp r13d, dword ptr [rbp + 96]
	jl .L1
	mov dword ptr [rbp + 72], 0
	mov r13d, dword ptr [rbp + 76]
	add r13d, 1
	mov dword ptr [rbp + 76], r13d
	jmp .L1
.L16:
.L17:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L18:
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L19:
	.byte 0x00,0x00,0x00,0x4f
	.balign 4, 0
.L20:
	.byte 0xff,0xff,0xff,0x7f
	.balign 4, 0
.L21:
	.byte 0xff,0x00,0x00,0x00
	.balign 4, 0
	.byte 0x01,0x00,0x00,0x00
	.balign 4, 0
.L22:
	.byte 0x00,0x00,0xc0,0x7f
	.balign 4, 0
.L23:
	.byte 0x00,0x11,0x11,0x11
