	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L19]
	vmovups ymm1, ymmword ptr [rip + .L20]
	vmovups ymm2, ymmword ptr [rip + .L21]
	vmovups ymm3, ymmword ptr [rip + .L22]
	vmovups ymm4, ymmword ptr [rip + .L23]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov rdi, qword ptr [rbp + 3208]
.L1:
	mov r8, qword ptr [rbp + 152]
	mov r9d, 0
.L2:
	vmovups ymmword ptr [r8 + r9*1], ymm0
	add r9, 32
	cmp r9, 1024
	jb .L2
	mov r15, qword ptr [rbp + 16]
	mov r9, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], r9
.L3:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
.L4:
	mov r9d, dword ptr [r15]
	test r9d, r9d
	je .L6
	mov r9d, dword ptr [r15]
	cmp r9d, -2
	je .L16
	cmp r9d, 1
	je .L7
	cmp r9d, 2
	je .L13
.L5:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L4
	mov r15, qword ptr [rbp + 16]
	jmp .L4
.L6:
	mov r9d, dword ptr [rbp + 68]
	imul r9d, dword ptr [rbp + 80]
	add r9d, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 480], rcx
	mov dword ptr [r15 + 20], r9d
	mov r9d, dword ptr [rbp + 68]
	# first = g.group.x * 65536 + g.local.x
	imul ecx, r9d, 65536
	mov qword ptr [r15 + 488], rcx
	# k < 256
	mov ecx, 0
	mov qword ptr [r15 + 496], rcx
	mov dword ptr [r15], 1
	jmp .L5
.L7:
	cmp r15, qword ptr [rbp + 16]
	jne .L10
	mov r9, qword ptr [rbp + 112]
	cmp r9, qword ptr [rbp + 144]
	jne .L10
.L8:
	# k < 256
	mov r9, qword ptr [r15 + 496]
	cmp r9d, 256
	jge .L9
	imul r8d, r9d, 256
	mov r10, qword ptr [r15 + 488]
	mov rcx, qword ptr [r15 + 480]
	add r10d, ecx
	add r10d, r8d
	movsxd r10, r10d
	prefetcht0 [rbx + r10*4 + 2048]
	vmovups ymm5, ymmword ptr [rbx + r10*4]
	vcmpps ymm6, ymm5, ymm5, 7
	vcmpps ymm7, ymm5, ymm1, 13
	vcvttps2dq ymm5, ymm5
	vpand ymm5, ymm6, ymm5
	vblendvps ymm5, ymm5, ymm2, ymm7
	vpand ymm5, ymm5, ymm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	mov r10d, 1
	vmovups ymmword ptr [r15 + 64], ymm5
	mov r8d, dword ptr [r15 + 64]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 68]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 72]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 76]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 80]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 84]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 88]
	add dword ptr [rdi + r8*4], r10d
	mov r8d, dword ptr [r15 + 92]
	add dword ptr [rdi + r8*4], r10d
	add r9d, 1
	mov qword ptr [r15 + 496], r9
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L8
	mov r15, qword ptr [rbp + 16]
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L17
	jmp .L8
.L9:
	mov r15, qword ptr [rbp + 16]
.L10:
	mov r8, qword ptr [r15 + 496]
	mov r10, qword ptr [r15 + 488]
	mov rcx, qword ptr [r15 + 480]
	add r10d, ecx
.L11:
	# k < 256
	cmp r8d, 256
	jge .L12
	imul r9d, r8d, 256
	mov r12, r10
	add r12d, r9d
	movsxd r12, r12d
	prefetcht0 [rbx + r12*4 + 16384]
	vmovups ymm5, ymmword ptr [rbx + r12*4]
	vcmpps ymm7, ymm5, ymm5, 7
	vcmpps ymm6, ymm5, ymm1, 13
	vcvttps2dq ymm5, ymm5
	vpand ymm5, ymm7, ymm5
	vblendvps ymm5, ymm5, ymm2, ymm6
	vpand ymm5, ymm5, ymm3
	# Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
	mov r12d, 1
	vmovups ymmword ptr [r15 + 64], ymm5
	mov r9d, dword ptr [r15 + 64]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 68]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 72]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 76]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 80]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 84]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 88]
	add dword ptr [rdi + r9*4], r12d
	mov r9d, dword ptr [r15 + 92]
	add dword ptr [rdi + r9*4], r12d
	add r8d, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L17
	jmp .L11
.L12:
	# g.barrier()
	mov dword ptr [r15], 2
	jmp .L5
.L13:
	# local[g.local.x]
	mov rcx, qword ptr [r15 + 480]
	movsxd r9, ecx
	vcvtdq2ps ymm5, ymmword ptr [rdi + r9*4]
	# Atomics.add(bins, g.local.x, local[g.local.x])
	vmovups ymmword ptr [r15 + 96], ymm5
	lea r9, [rsi + r9*4]
	mov r12d, 255
.L14:
	tzcnt r10d, r12d
	lea r8, [r9 + r10*4]
	mov r10d, dword ptr [r15 + r10*4 + 96]
	mov eax, dword ptr [r8]
.L15:
	vmovd xmm5, eax
	vmovd xmm6, r10d
	vaddps ymm6, ymm5, ymm6
	vcmpps ymm5, ymm6, ymm6, 3
	vblendvps ymm6, ymm6, ymm4, ymm5
	vmovd r13d, xmm6
	lock cmpxchg dword ptr [r8], r13d
	jne .L15
	blsr r12d, r12d
	jne .L14
.L16:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L5
	sub qword ptr [rbp + 48], 1
	je .L18
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L17
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
.L17:
.L18:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L19:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L20:
	.byte 0x00,0x00,0x00,0x4f # 8 times
	.balign 32, 0
.L21:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
.L22:
	.byte 0xff,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L23:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
