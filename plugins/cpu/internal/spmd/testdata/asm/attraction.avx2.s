	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L11]
	vmovups ymm1, ymmword ptr [rip + .L12]
	vmovups ymm2, ymmword ptr [rip + .L13]
	vmovups ymm3, ymmword ptr [rip + .L14]
	mov rbx, qword ptr [rbp + 3104]
	mov rsi, qword ptr [rbp + 3144]
	mov rdi, qword ptr [rbp + 3184]
	mov r8, qword ptr [rbp + 3224]
	mov r9d, dword ptr [rbp + 3112]
	mov r10d, dword ptr [rbp + 56]
.L1:
	mov r12d, dword ptr [rbp + 32]
	mov r13, qword ptr [rbp + 48]
	shl r13, 3
	add r13, r12
	cmp r13, r10
	cmovg r13, r10
	lea r14, [r12 + 8]
	cmp r14, r13
	jg .L5
.L2:
	# x[g.x]
	movsxd r14, r12d
	vmovups ymm4, ymmword ptr [rbx + r14*4]
	vmovups ymm5, ymmword ptr [rsi + r14*4]
	# j < x.length
	mov ecx, 0
	vmovdqa ymm6, ymm1
	vmovdqa ymm7, ymm1
.L3:
	# j < x.length
	cmp ecx, r9d
	jge .L4
	# x[j]
	movsxd rdx, ecx
	vbroadcastss ymm8, dword ptr [rbx + rdx*4]
	vsubps ymm8, ymm8, ymm4
	vbroadcastss ymm9, dword ptr [rsi + rdx*4]
	vsubps ymm9, ymm9, ymm5
	vmulps ymm10, ymm9, ymm9
	vfmadd231ps ymm10, ymm8, ymm8
	vaddps ymm10, ymm10, ymm2
	# m[j]
	vbroadcastss ymm11, dword ptr [rdi + rdx*4]
	vsqrtps ymm12, ymm10
	vmulps ymm12, ymm10, ymm12
	vdivps ymm12, ymm11, ymm12
	# fx += s * dx
	vfmadd231ps ymm6, ymm8, ymm12
	vfmadd231ps ymm7, ymm12, ymm9
	# j++
	add ecx, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L3
.L4:
	# ax[g.x] = fx + fy
	vaddps ymm12, ymm6, ymm7
	vcmpps ymm9, ymm12, ymm12, 3
	vblendvps ymm12, ymm12, ymm3, ymm9
	vmovups ymmword ptr [r8 + r14*4], ymm12
	add r12, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea rdx, [r12 + 8]
	cmp rdx, r13
	jle .L2
.L5:
	cmp r12, r13
	jge .L8
	mov rdx, r13
	sub rdx, r12
	vmovd xmm9, edx
	vpbroadcastd ymm9, xmm9
	vpcmpgtd ymm9, ymm9, ymm0
	# x[g.x]
	movsxd rdx, r12d
	vmaskmovps ymm12, ymm9, ymmword ptr [rbx + rdx*4]
	vmaskmovps ymm8, ymm9, ymmword ptr [rsi + rdx*4]
	# j < x.length
	mov ecx, 0
	vmovdqa ymm7, ymm1
	vmovdqa ymm6, ymm1
.L6:
	# j < x.length
	cmp ecx, r9d
	jge .L7
	# x[j]
	movsxd r14, ecx
	vbroadcastss ymm5, dword ptr [rbx + r14*4]
	vsubps ymm5, ymm5, ymm12
	vbroadcastss ymm4, dword ptr [rsi + r14*4]
	vsubps ymm4, ymm4, ymm8
	vmulps ymm11, ymm4, ymm4
	vfmadd231ps ymm11, ymm5, ymm5
	vaddps ymm11, ymm11, ymm2
	# m[j]
	vbroadcastss ymm10, dword ptr [rdi + r14*4]
	vsqrtps ymm13, ymm11
	vmulps ymm13, ymm11, ymm13
	vdivps ymm13, ymm10, ymm13
	# fx += s * dx
	vfmadd231ps ymm7, ymm5, ymm13
	vfmadd231ps ymm6, ymm13, ymm4
	# j++
	add ecx, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L6
.L7:
	# ax[g.x] = fx + fy
	vaddps ymm13, ymm7, ymm6
	vcmpps ymm4, ymm13, ymm13, 3
	vblendvps ymm13, ymm13, ymm3, ymm4
	vmaskmovps ymmword ptr [r8 + rdx*4], ymm9, ymm13
	add r12, 8
.L8:
	mov r14d, dword ptr [rbp + 32]
	sub r13, r14
	add r13, 7
	shr r13, 3
	sub qword ptr [rbp + 48], r13
	jle .L10
	mov dword ptr [rbp + 32], 0
	mov r14d, dword ptr [rbp + 36]
	add r14d, 1
	mov dword ptr [rbp + 36], r14d
	cmp r14d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L9:
.L10:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L11:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L12:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L13:
	.byte 0x0a,0xd7,0x23,0x3c # 8 times
	.balign 32, 0
.L14:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
