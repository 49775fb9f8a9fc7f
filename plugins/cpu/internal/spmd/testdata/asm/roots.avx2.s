	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L9]
	vmovups ymm1, ymmword ptr [rip + .L10]
	vmovups ymm2, ymmword ptr [rip + .L11]
	vmovups ymm3, ymmword ptr [rip + .L12]
	vmovups ymm4, ymmword ptr [rip + .L13]
	vmovups ymm5, ymmword ptr [rip + .L14]
	vmovups ymm6, ymmword ptr [rip + .L15]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov edi, dword ptr [rbp + 56]
.L1:
	mov r8d, dword ptr [rbp + 32]
	mov r9, qword ptr [rbp + 48]
	shl r9, 3
	add r9, r8
	cmp r9, rdi
	cmovg r9, rdi
	lea r10, [r9 - 8]
	cmp r8, r10
	jg .L4
.L2:
	# x[g.x]
	vmovups ymm7, ymmword ptr [rbx + r8*4]
	vsqrtps ymm8, ymm7
	vaddps ymm7, ymm7, ymm1
	vrsqrtps ymm9, ymm7
	vmulps ymm7, ymm9, ymm7
	vfnmadd213ps ymm7, ymm9, ymm2
	vpsubusw ymm10, ymm9, ymm3
	vpminud ymm7, ymm7, ymm4
	vfmadd231ps ymm9, ymm7, ymm10
	vaddps ymm10, ymm9, ymm5
	vdivps ymm10, ymm8, ymm10
	vcmpps ymm8, ymm10, ymm10, 3
	vblendvps ymm10, ymm10, ymm6, ymm8
	vmovups ymmword ptr [rsi + r8*4], ymm10
	test r8d, 120
	je .L6
.L3:
	add r8, 8
	cmp r8, r10
	jle .L2
.L4:
	cmp r8, r9
	jge .L5
	mov r10, r9
	sub r10, r8
	vmovd xmm8, r10d
	vpbroadcastd ymm8, xmm8
	vpcmpgtd ymm8, ymm8, ymm0
	# x[g.x]
	vmaskmovps ymm10, ymm8, ymmword ptr [rbx + r8*4]
	vsqrtps ymm7, ymm10
	vaddps ymm10, ymm10, ymm1
	vrsqrtps ymm9, ymm10
	vmulps ymm10, ymm9, ymm10
	vfnmadd213ps ymm10, ymm9, ymm2
	vpsubusw ymm11, ymm9, ymm3
	vpminud ymm10, ymm10, ymm4
	vfmadd231ps ymm9, ymm10, ymm11
	vaddps ymm11, ymm9, ymm5
	vdivps ymm11, ymm7, ymm11
	vcmpps ymm7, ymm11, ymm11, 3
	vblendvps ymm11, ymm11, ymm6, ymm7
	vmaskmovps ymmword ptr [rsi + r8*4], ymm8, ymm11
	add r8, 8
.L5:
	mov r10d, dword ptr [rbp + 32]
	sub r9, r10
	add r9, 7
	shr r9, 3
	sub qword ptr [rbp + 48], r9
	jle .L8
	mov dword ptr [rbp + 32], 0
	mov r10d, dword ptr [rbp + 36]
	add r10d, 1
	mov dword ptr [rbp + 36], r10d
	cmp r10d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L6:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L7
	jmp .L3
.L7:
.L8:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L9:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L10:
	.byte 0x00,0x00,0x00,0x40 # 8 times
	.balign 32, 0
.L11:
	.byte 0x01,0x00,0x80,0x3f # 8 times
	.balign 32, 0
.L12:
	.byte 0x00,0x00,0x80,0x00 # 8 times
	.balign 32, 0
.L13:
	.byte 0x00,0x00,0x80,0xbb # 8 times
	.balign 32, 0
.L14:
	.byte 0x00,0x00,0x80,0x3f # 8 times
	.balign 32, 0
.L15:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
