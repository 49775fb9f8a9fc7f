	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vpbroadcastd zmm0, dword ptr [rip + .L22]
	vpbroadcastd zmm1, dword ptr [rip + .L23]
	vpbroadcastd zmm2, dword ptr [rip + .L24]
	vpbroadcastd zmm3, dword ptr [rip + .L25]
	vpbroadcastd zmm4, dword ptr [rip + .L26]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov rdi, qword ptr [rbp + 3208]
	lea r8, [rdi]
	lea r9, [rdi]
.L1:
	mov r10, qword ptr [rbp + 152]
	vmovups zmmword ptr [r10], zmm0
	vmovups zmmword ptr [r10 + 64], zmm0
	vmovups zmmword ptr [r10 + 128], zmm0
	vmovups zmmword ptr [r10 + 192], zmm0
	vmovups zmmword ptr [r10 + 256], zmm0
	vmovups zmmword ptr [r10 + 320], zmm0
	vmovups zmmword ptr [r10 + 384], zmm0
	vmovups zmmword ptr [r10 + 448], zmm0
	vmovups zmmword ptr [r10 + 512], zmm0
	vmovups zmmword ptr [r10 + 576], zmm0
	vmovups zmmword ptr [r10 + 640], zmm0
	vmovups zmmword ptr [r10 + 704], zmm0
	vmovups zmmword ptr [r10 + 768], zmm0
	vmovups zmmword ptr [r10 + 832], zmm0
	vmovups zmmword ptr [r10 + 896], zmm0
	vmovups zmmword ptr [r10 + 960], zmm0
	mov r15, qword ptr [rbp + 16]
	mov r10, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], r10
.L2:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L2
	mov r15, qword ptr [rbp + 16]
.L3:
	mov r10d, dword ptr [r15]
	test r10d, r10d
	je .L5
	mov r10d, dword ptr [r15]
	cmp r10d, -2
	je .L19
	cmp r10d, 1
	je .L6
	cmp r10d, 2
	je .L16
.L4:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
	jmp .L3
.L5:
	mov r10d, dword ptr [rbp + 68]
	imul r10d, dword ptr [rbp + 80]
	add r10d, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 832], rcx
	mov dword ptr [r15 + 20], r10d
	mov r10d, dword ptr [rbp + 68]
	imul ecx, r10d, 65536
	mov qword ptr [r15 + 840], rcx
	# k < 256
	mov ecx, 0
	mov qword ptr [r15 + 848], rcx
	mov dword ptr [r15], 1
	jmp .L4
.L6:
	cmp r15, qword ptr [rbp + 16]
	jne .L11
	mov r10, qword ptr [rbp + 112]
	cmp r10, qword ptr [rbp + 144]
	jne .L11
.L7:
	# k < 256
	mov r10, qword ptr [r15 + 848]
	cmp r10d, 256
	jge .L10
	imul r12d, r10d, 256
	mov r13, qword ptr [r15 + 840]
	mov rcx, qword ptr [r15 + 832]
	add r13d, ecx
	add r13d, r12d
	movsxd r13, r13d
	prefetcht0 [rbx + r13*4 + 2048]
	vmovups zmm5, zmmword ptr [rbx + r13*4]
	vcvttps2dq zmm6, zmm5
	vcmpps k1, zmm5, zmm1, 13
	vcmpps k2, zmm5, zmm5, 3
	vpblendmd zmm6{k1}, zmm6, zmm2
	vpblendmd zmm6{k2}, zmm6, zmm0
	vpandd zmm6, zmm6, zmm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	vmovups zmmword ptr [r15 + 128], zmm4
	mov r13d, 1
	vmovups ymmword ptr [r15 + 64], ymm6
	vextracti64x4 ymmword ptr [r15 + 96], zmm6, 1
	mov r12d, dword ptr [r15 + 64]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 68]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 72]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 76]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 80]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 84]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 88]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 92]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 96]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 100]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 104]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 108]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 112]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 116]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 120]
	add dword ptr [rdi + r12*4], r13d
	mov r12d, dword ptr [r15 + 124]
	add dword ptr [rdi + r12*4], r13d
	jmp .L9
	vmovups zmmword ptr [r15 + 64], zmm6
	mov r12d, 65535
.L8:
	tzcnt r13d, r12d
	mov r14d, dword ptr [r15 + r13*4 + 64]
	lea r14, [r8 + r14*4]
	mov r13d, dword ptr [r15 + r13*4 + 128]
	add dword ptr [r14], r13d
	blsr r12d, r12d
	jne .L8
.L9:
	add r10d, 1
	mov qword ptr [r15 + 848], r10
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L7
	mov r15, qword ptr [rbp + 16]
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L20
	jmp .L7
.L10:
	mov r15, qword ptr [rbp + 16]
.L11:
	mov r13, qword ptr [r15 + 848]
	mov r14, qword ptr [r15 + 840]
	mov rcx, qword ptr [r15 + 832]
	add r14d, ecx
.L12:
	# k < 256
	cmp r13d, 256
	jge .L15
	imul r12d, r13d, 256
	mov r10, r14
	add r10d, r12d
	movsxd r10, r10d
	prefetcht0 [rbx + r10*4 + 16384]
	vmovups zmm6, zmmword ptr [rbx + r10*4]
	vcvttps2dq zmm5, zmm6
	vcmpps k2, zmm6, zmm1, 13
	vcmpps k1, zmm6, zmm6, 3
	vpblendmd zmm5{k2}, zmm5, zmm2
	vpblendmd zmm5{k1}, zmm5, zmm0
	vpandd zmm5, zmm5, zmm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	vmovups zmmword ptr [r15 + 128], zmm4
	mov r10d, 1
	vmovups ymmword ptr [r15 + 64], ymm5
	vextracti64x4 ymmword ptr [r15 + 96], zmm5, 1
	mov r12d, dword ptr [r15 + 64]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 68]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 72]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 76]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 80]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 84]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 88]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 92]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 96]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 100]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 104]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 108]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 112]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 116]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 120]
	add dword ptr [rdi + r12*4], r10d
	mov r12d, dword ptr [r15 + 124]
	add dword ptr [rdi + r12*4], r10d
	jmp .L14
	vmovups zmmword ptr [r15 + 64], zmm5
	mov r12d, 65535
.L13:
	tzcnt r10d, r12d
	mov edx, dword ptr [r15 + r10*4 + 64]
	lea rdx, [r9 + rdx*4]
	mov r10d, dword ptr [r15 + r10*4 + 128]
	add dword ptr [rdx], r10d
	blsr r12d, r12d
	jne .L13
.L14:
	add r13d, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L20
	jmp .L12
.L15:
	# g.barrier()
	mov dword ptr [r15], 2
	jmp .L4
.L16:
	# local[g.local.x]
	mov rcx, qword ptr [r15 + 832]
	movsxd r10, ecx
	vmovups zmm5, zmmword ptr [rdi + r10*4]
	vcvtdq2ps zmm5, zmm5
	# Atomics.add(bins, g.local.x, local[g.local.x])
	vmovups zmmword ptr [r15 + 128], zmm5
	lea r10, [rsi + r10*4]
	mov edx, 65535
.L17:
	tzcnt r12d, edx
	lea r14, [r10 + r12*4]
	mov r12d, dword ptr [r15 + r12*4 + 128]
	mov eax, dword ptr [r14]
.L18:
	vmovd xmm5, eax
	vmovd xmm6, r12d
	vaddps zmm6, zmm5, zmm6
	vmovd r13d, xmm6
	lock cmpxchg dword ptr [r14], r13d
	jne .L18
	blsr edx, edx
	jne .L17
.L19:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L4
	sub qword ptr [rbp + 48], 1
	je .L21
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L20
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
.L20:
.L21:
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
.L22:
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L23:
	.byte 0x00,0x00,0x00,0x4f
	.balign 4, 0
.L24:
	.byte 0xff,0xff,0xff,0x7f
	.balign 4, 0
.L25:
	.byte 0xff,0x00,0x00,0x00
	.balign 4, 0
.L26:
	.byte 0x01,0x00,0x00,0x00
