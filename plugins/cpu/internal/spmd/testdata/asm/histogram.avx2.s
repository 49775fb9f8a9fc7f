	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L21]
	vmovups ymm1, ymmword ptr [rip + .L22]
	vmovups ymm2, ymmword ptr [rip + .L23]
	vmovups ymm3, ymmword ptr [rip + .L24]
	vmovups ymm4, ymmword ptr [rip + .L25]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov rdi, qword ptr [rbp + 3208]
	lea r8, [rdi]
	lea r9, [rdi]
.L1:
	mov r10, qword ptr [rbp + 152]
	mov r12d, 0
.L2:
	vmovups ymmword ptr [r10 + r12*1], ymm0
	add r12, 32
	cmp r12, 1024
	jb .L2
	mov r15, qword ptr [rbp + 16]
	mov r12, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], r12
.L3:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
.L4:
	mov r12d, dword ptr [r15]
	test r12d, r12d
	je .L6
	mov r12d, dword ptr [r15]
	cmp r12d, -2
	je .L18
	cmp r12d, 1
	je .L7
	cmp r12d, 2
	je .L15
.L5:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L4
	mov r15, qword ptr [rbp + 16]
	jmp .L4
.L6:
	mov r12d, dword ptr [rbp + 68]
	imul r12d, dword ptr [rbp + 80]
	add r12d, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 480], rcx
	mov dword ptr [r15 + 20], r12d
	mov r12d, dword ptr [rbp + 68]
	imul ecx, r12d, 65536
	mov qword ptr [r15 + 488], rcx
	# k < 256
	mov ecx, 0
	mov qword ptr [r15 + 496], rcx
	mov dword ptr [r15], 1
	jmp .L5
.L7:
	cmp r15, qword ptr [rbp + 16]
	jne .L11
	mov r12, qword ptr [rbp + 112]
	cmp r12, qword ptr [rbp + 144]
	jne .L11
.L8:
	# k < 256
	mov r12, qword ptr [r15 + 496]
	cmp r12d, 256
	jge .L10
	imul r10d, r12d, 256
	mov r13, qword ptr [r15 + 488]
	mov rcx, qword ptr [r15 + 480]
	add r13d, ecx
	add r13d, r10d
	movsxd r13, r13d
	prefetcht0 [rbx + r13*4 + 2048]
	vmovups ymm5, ymmword ptr [rbx + r13*4]
	vcvttps2dq ymm6, ymm5
	vcmpps ymm7, ymm5, ymm1, 13
	vcmpps ymm5, ymm5, ymm5, 3
	vblendvps ymm6, ymm6, ymm2, ymm7
	vblendvps ymm6, ymm6, ymm0, ymm5
	vpand ymm5, ymm6, ymm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	vmovups ymmword ptr [r15 + 96], ymm4
	vmovups ymmword ptr [r15 + 64], ymm5
	mov r13d, 255
.L9:
	tzcnt r10d, r13d
	mov r14d, dword ptr [r15 + r10*4 + 64]
	lea r14, [r8 + r14*4]
	mov r10d, dword ptr [r15 + r10*4 + 96]
	add dword ptr [r14], r10d
	blsr r13d, r13d
	jne .L9
	add r12d, 1
	mov qword ptr [r15 + 496], r12
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L8
	mov r15, qword ptr [rbp + 16]
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L19
	jmp .L8
.L10:
	mov r15, qword ptr [rbp + 16]
.L11:
	mov r10, qword ptr [r15 + 496]
	mov r14, qword ptr [r15 + 488]
	mov rcx, qword ptr [r15 + 480]
	add r14d, ecx
.L12:
	# k < 256
	cmp r10d, 256
	jge .L14
	imul r13d, r10d, 256
	mov r12, r14
	add r12d, r13d
	movsxd r12, r12d
	prefetcht0 [rbx + r12*4 + 16384]
	vmovups ymm5, ymmword ptr [rbx + r12*4]
	vcvttps2dq ymm7, ymm5
	vcmpps ymm6, ymm5, ymm1, 13
	vcmpps ymm5, ymm5, ymm5, 3
	vblendvps ymm7, ymm7, ymm2, ymm6
	vblendvps ymm7, ymm7, ymm0, ymm5
	vpand ymm5, ymm7, ymm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	vmovups ymmword ptr [r15 + 96], ymm4
	vmovups ymmword ptr [r15 + 64], ymm5
	mov r12d, 255
.L13:
	tzcnt r13d, r12d
	mov edx, dword ptr [r15 + r13*4 + 64]
	lea rdx, [r9 + rdx*4]
	mov r13d, dword ptr [r15 + r13*4 + 96]
	add dword ptr [rdx], r13d
	blsr r12d, r12d
	jne .L13
	add r10d, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L19
	jmp .L12
.L14:
	# g.barrier()
	mov dword ptr [r15], 2
	jmp .L5
.L15:
	# local[g.local.x]
	mov rcx, qword ptr [r15 + 480]
	movsxd r13, ecx
	vmovups ymm5, ymmword ptr [rdi + r13*4]
	vcvtdq2ps ymm5, ymm5
	# Atomics.add(bins, g.local.x, local[g.local.x])
	vmovups ymmword ptr [r15 + 96], ymm5
	lea r13, [rsi + r13*4]
	mov edx, 255
.L16:
	tzcnt r12d, edx
	lea r14, [r13 + r12*4]
	mov r12d, dword ptr [r15 + r12*4 + 96]
	mov eax, dword ptr [r14]
.L17:
	vmovd xmm5, eax
	vmovd xmm6, r12d
	vaddps ymm6, ymm5, ymm6
	vmovd r10d, xmm6
	lock cmpxchg dword ptr [r14], r10d
	jne .L17
	blsr edx, edx
	jne .L16
.L18:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L5
	sub qword ptr [rbp + 48], 1
	je .L20
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L19
	mov r10d, dword ptr [rbp + 68]
	add r10d, 1
	mov dword ptr [rbp + 68], r10d
	cmp r10d, dword ptr [rbp + 92]
	jl .L1
	mov dword ptr [rbp + 68], 0
	mov r10d, dword ptr [rbp + 72]
	add r10d, 1
	mov dword ptr [rbp + 72], r10d
	cmp r10d, dword ptr [rbp + 96]
	jl .L1
	mov dword ptr [rbp + 72], 0
	mov r10d, dword ptr [rbp + 76]
	add r10d, 1
	mov dword ptr [rbp + 76], r10d
	jmp .L1
.L19:
.L20:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L21:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L22:
	.byte 0x00,0x00,0x00,0x4f # 8 times
	.balign 32, 0
.L23:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
.L24:
	.byte 0xff,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L25:
	.byte 0x01,0x00,0x00,0x00 # 8 times
