	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L15]
	vmovups ymm1, ymmword ptr [rip + .L16]
	vmovups ymm2, ymmword ptr [rip + .L17]
	vmovups ymm3, ymmword ptr [rip + .L18]
	vmovups ymm4, ymmword ptr [rip + .L19]
	vmovups ymm5, ymmword ptr [rip + .L20]
	vmovups ymm6, ymmword ptr [rip + .L21]
	mov rbx, qword ptr [rbp + 3080]
	mov rsi, qword ptr [rbp + 3096]
	mov edi, dword ptr [rbp + 56]
.L1:
	mov r8d, dword ptr [rbp + 36]
	imul r9d, r8d, 3
	vmovd xmm7, r9d
	vpbroadcastd ymm7, xmm7
	vcvtdq2ps ymm7, ymm7
	vmulps ymm7, ymm7, ymm0
	vaddps ymm7, ymm7, ymm1
	mov r9d, dword ptr [rbp + 32]
	mov r10, qword ptr [rbp + 48]
	shl r10, 3
	add r10, r9
	cmp r10, rdi
	cmovg r10, rdi
	lea r12, [r9 + 8]
	cmp r12, r10
	jg .L5
	movsxd r12, r8d
	imul r12, rsi
	lea r12, [rbx + r12*4]
.L2:
	vmovd xmm8, r9d
	vpbroadcastd ymm8, xmm8
	vpaddd ymm8, ymm8, ymm2
	# cx = -2 + 3 * g.x / 1024
	vpmulld ymm8, ymm8, ymm3
	vcvtdq2ps ymm8, ymm8
	vmulps ymm8, ymm8, ymm0
	vaddps ymm8, ymm8, ymm4
	# n < 256 && x * x + y * y < 4
	mov r13d, 0
	vmovdqa ymm10, ymm5
	vmovdqa ymm11, ymm5
	vpcmpeqd ymm12, ymm12, ymm12
	vmovdqa ymm9, ymm5
.L3:
	# n < 256 && x * x + y * y < 4
	vmulps ymm13, ymm10, ymm10
	vmovdqa ymm14, ymm11
	vfmadd213ps ymm14, ymm11, ymm13
	cmp r13d, 256
	jge .L9
	vcmpps ymm14, ymm14, ymm6, 1
	vpand ymm12, ymm14, ymm12
	vfmsub231ps ymm13, ymm11, ymm11
	vaddps ymm14, ymm11, ymm11
	vaddps ymm11, ymm13, ymm8
	vfmadd213ps ymm10, ymm14, ymm7
	add r13d, 1
	vpsubd ymm9, ymm9, ymm12
	# n < 256 && x * x + y * y < 4
	vmulps ymm14, ymm10, ymm10
	vmovdqa ymm13, ymm11
	vfmadd213ps ymm13, ymm11, ymm14
	cmp r13d, 256
	jge .L10
	vcmpps ymm13, ymm13, ymm6, 1
	vpand ymm12, ymm13, ymm12
	vptest ymm12, ymm12
	je .L4
	vfmsub231ps ymm14, ymm11, ymm11
	vaddps ymm13, ymm11, ymm11
	vaddps ymm11, ymm14, ymm8
	vfmadd213ps ymm10, ymm13, ymm7
	add r13d, 1
	vpsubd ymm9, ymm9, ymm12
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L3
.L4:
	# it[g.y][g.x] = n
	vcvtdq2ps ymm13, ymm9
	movsxd r13, r9d
	vmovups ymmword ptr [r12 + r13*4], ymm13
	add r9, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	lea r13, [r9 + 8]
	cmp r13, r10
	jle .L2
.L5:
	movsxd r13, r8d
	imul r13, rsi
	lea r13, [rbx + r13*4]
	cmp r9, r10
	jge .L8
	mov r12, r10
	sub r12, r9
	vmovd xmm13, r12d
	vpbroadcastd ymm13, xmm13
	vpcmpgtd ymm13, ymm13, ymm2
	vmovd xmm14, r9d
	vpbroadcastd ymm14, xmm14
	vpaddd ymm14, ymm14, ymm2
	# cx = -2 + 3 * g.x / 1024
	vpmulld ymm14, ymm14, ymm3
	vcvtdq2ps ymm14, ymm14
	vmulps ymm14, ymm14, ymm0
	vaddps ymm14, ymm14, ymm4
	# n < 256 && x * x + y * y < 4
	mov r12d, 0
	vmovdqa ymm11, ymm5
	vmovdqa ymm10, ymm5
	vmovdqa ymm9, ymm13
	vmovdqa ymm12, ymm5
.L6:
	# n < 256 && x * x + y * y < 4
	vmulps ymm8, ymm11, ymm11
	vmovdqa ymm15, ymm10
	vfmadd213ps ymm15, ymm10, ymm8
	cmp r12d, 256
	jge .L11
	vcmpps ymm15, ymm15, ymm6, 1
	vpand ymm9, ymm15, ymm9
	vfmsub231ps ymm8, ymm10, ymm10
	vaddps ymm15, ymm10, ymm10
	vaddps ymm10, ymm8, ymm14
	vfmadd213ps ymm11, ymm15, ymm7
	add r12d, 1
	vpsubd ymm12, ymm12, ymm9
	# n < 256 && x * x + y * y < 4
	vmulps ymm15, ymm11, ymm11
	vmovdqa ymm8, ymm10
	vfmadd213ps ymm8, ymm10, ymm15
	cmp r12d, 256
	jge .L12
	vcmpps ymm8, ymm8, ymm6, 1
	vpand ymm9, ymm8, ymm9
	vptest ymm9, ymm9
	je .L7
	vfmsub231ps ymm15, ymm10, ymm10
	vaddps ymm8, ymm10, ymm10
	vaddps ymm10, ymm15, ymm14
	vfmadd213ps ymm11, ymm8, ymm7
	add r12d, 1
	vpsubd ymm12, ymm12, ymm9
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L6
.L7:
	# it[g.y][g.x] = n
	vcvtdq2ps ymm8, ymm12
	movsxd r12, r9d
	vmaskmovps ymmword ptr [r13 + r12*4], ymm13, ymm8
	add r9, 8
.L8:
	mov r12d, dword ptr [rbp + 32]
	sub r10, r12
	add r10, 7
	shr r10, 3
	sub qword ptr [rbp + 48], r10
	jle .L14
	mov dword ptr [rbp + 32], 0
	mov r12d, dword ptr [rbp + 36]
	add r12d, 1
	mov dword ptr [rbp + 36], r12d
	cmp r12d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L9:
	vpxor ymm12, ymm12, ymm12
	jmp .L4
.L10:
	vpxor ymm12, ymm12, ymm12
	jmp .L4
.L11:
	vpxor ymm9, ymm9, ymm9
	jmp .L7
.L12:
	vpxor ymm9, ymm9, ymm9
	jmp .L7
.L13:
.L14:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L15:
	.byte 0x00,0x00,0x80,0x3a # 8 times
	.balign 32, 0
.L16:
	.byte 0x00,0x00,0xc0,0xbf # 8 times
	.balign 32, 0
.L17:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L18:
	.byte 0x03,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L19:
	.byte 0x00,0x00,0x00,0xc0 # 8 times
	.balign 32, 0
.L20:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L21:
	.byte 0x00,0x00,0x80,0x40 # 8 times
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x80 # 8 times
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x40 # 8 times
