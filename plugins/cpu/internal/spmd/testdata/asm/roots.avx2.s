	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L7]
	vmovups ymm1, ymmword ptr [rip + .L8]
	vmovups ymm2, ymmword ptr [rip + .L9]
	vmovups ymm3, ymmword ptr [rip + .L10]
	vmovups ymm4, ymmword ptr [rip + .L11]
	vmovups ymm5, ymmword ptr [rip + .L12]
	vmovups ymm6, ymmword ptr [rip + .L13]
	vmovups ymm7, ymmword ptr [rip + .L14]
	vmovups ymm8, ymmword ptr [rip + .L15]
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
	lea r10, [r8 + 8]
	cmp r10, r9
	jg .L3
.L2:
	# x[g.x]
	movsxd r10, r8d
	vmovups ymm9, ymmword ptr [rbx + r10*4]
	vsqrtps ymm10, ymm9
	vaddps ymm9, ymm9, ymm1
	vrsqrtps ymm11, ymm9
	vpand ymm11, ymm11, ymm2
	vminps ymm12, ymm11, ymm3
	vmulps ymm9, ymm12, ymm9
	vfnmadd213ps ymm9, ymm12, ymm4
	vminps ymm9, ymm9, ymm5
	vmulps ymm12, ymm12, ymm6
	vfmadd231ps ymm11, ymm9, ymm12
	vaddps ymm12, ymm11, ymm7
	vdivps ymm12, ymm10, ymm12
	vcmpps ymm10, ymm12, ymm12, 3
	vblendvps ymm12, ymm12, ymm8, ymm10
	vmovups ymmword ptr [rsi + r10*4], ymm12
	add r8, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L5
	lea r10, [r8 + 8]
	cmp r10, r9
	jle .L2
.L3:
	cmp r8, r9
	jge .L4
	mov r10, r9
	sub r10, r8
	vmovd xmm10, r10d
	vpbroadcastd ymm10, xmm10
	vpcmpgtd ymm10, ymm10, ymm0
	# x[g.x]
	movsxd r10, r8d
	vmaskmovps ymm12, ymm10, ymmword ptr [rbx + r10*4]
	vsqrtps ymm9, ymm12
	vaddps ymm12, ymm12, ymm1
	vrsqrtps ymm11, ymm12
	vpand ymm11, ymm11, ymm2
	vminps ymm13, ymm11, ymm3
	vmulps ymm12, ymm13, ymm12
	vfnmadd213ps ymm12, ymm13, ymm4
	vminps ymm12, ymm12, ymm5
	vmulps ymm13, ymm13, ymm6
	vfmadd231ps ymm11, ymm12, ymm13
	vaddps ymm13, ymm11, ymm7
	vdivps ymm13, ymm9, ymm13
	vcmpps ymm9, ymm13, ymm13, 3
	vblendvps ymm13, ymm13, ymm8, ymm9
	vmaskmovps ymmword ptr [rsi + r10*4], ymm10, ymm13
	add r8, 8
.L4:
	mov r10d, dword ptr [rbp + 32]
	sub r9, r10
	add r9, 7
	shr r9, 3
	sub qword ptr [rbp + 48], r9
	jle .L6
	mov dword ptr [rbp + 32], 0
	mov r10d, dword ptr [rbp + 36]
	add r10d, 1
	mov dword ptr [rbp + 36], r10d
	cmp r10d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L5:
.L6:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L7:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L8:
	.byte 0x00,0x00,0x00,0x40 # 8 times
	.balign 32, 0
.L9:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
.L10:
	.byte 0x00,0x00,0x80,0x5f # 8 times
	.balign 32, 0
.L11:
	.byte 0x01,0x00,0x80,0x3f # 8 times
	.balign 32, 0
.L12:
	.byte 0x00,0x00,0x00,0x3b # 8 times
	.balign 32, 0
.L13:
	.byte 0x00,0x00,0x00,0x3f # 8 times
	.balign 32, 0
.L14:
	.byte 0x00,0x00,0x80,0x3f # 8 times
	.balign 32, 0
.L15:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
