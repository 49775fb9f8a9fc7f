	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L11]
	vmovups ymm1, ymmword ptr [rip + .L12]
	vmovups ymm2, ymmword ptr [rip + .L13]
	vmovups ymm3, ymmword ptr [rip + .L14]
	vmovups ymm4, ymmword ptr [rip + .L15]
	mov rbx, qword ptr [rbp + 3080]
	mov esi, dword ptr [rbp + 56]
.L1:
	mov edi, dword ptr [rbp + 32]
	mov r8, qword ptr [rbp + 48]
	shl r8, 3
	add r8, rdi
	cmp r8, rsi
	cmovg r8, rsi
	lea r9, [rdi + 8]
	cmp r9, r8
	jg .L5
.L2:
	# x[g.x]
	movsxd r9, edi
	vmovups ymm5, ymmword ptr [rbx + r9*4]
	vcmpps ymm6, ymm5, ymm5, 7
	vcmpps ymm7, ymm5, ymm1, 13
	vcvttps2dq ymm5, ymm5
	vpand ymm5, ymm6, ymm5
	vblendvps ymm5, ymm5, ymm2, ymm7
	vpxor ymm7, ymm5, ymm3
	# r < 64
	mov r10d, 0
.L3:
	# r < 64
	cmp r10d, 64
	jge .L4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	vpaddd ymm5, ymm5, ymm7
	vpxor ymm7, ymm7, ymm5
	vpshufb ymm7, ymm7, ymm4
	add r10d, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L3
.L4:
	# x[g.x] = a ^ b
	vpxor ymm7, ymm5, ymm7
	vcvtdq2ps ymm7, ymm7
	vmovups ymmword ptr [rbx + r9*4], ymm7
	add rdi, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea r10, [rdi + 8]
	cmp r10, r8
	jle .L2
.L5:
	cmp rdi, r8
	jge .L8
	mov r10, r8
	sub r10, rdi
	vmovd xmm7, r10d
	vpbroadcastd ymm7, xmm7
	vpcmpgtd ymm7, ymm7, ymm0
	# x[g.x]
	movsxd r10, edi
	vmaskmovps ymm5, ymm7, ymmword ptr [rbx + r10*4]
	vcmpps ymm6, ymm5, ymm5, 7
	vcmpps ymm8, ymm5, ymm1, 13
	vcvttps2dq ymm5, ymm5
	vpand ymm5, ymm6, ymm5
	vblendvps ymm5, ymm5, ymm2, ymm8
	vpxor ymm8, ymm5, ymm3
	# r < 64
	mov r9d, 0
.L6:
	# r < 64
	cmp r9d, 64
	jge .L7
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	vpaddd ymm5, ymm5, ymm8
	vpxor ymm8, ymm8, ymm5
	vpshufb ymm8, ymm8, ymm4
	add r9d, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L6
.L7:
	# x[g.x] = a ^ b
	vpxor ymm8, ymm5, ymm8
	vcvtdq2ps ymm8, ymm8
	vmaskmovps ymmword ptr [rbx + r10*4], ymm7, ymm8
	add rdi, 8
.L8:
	mov r9d, dword ptr [rbp + 32]
	sub r8, r9
	add r8, 7
	shr r8, 3
	sub qword ptr [rbp + 48], r8
	jle .L10
	mov dword ptr [rbp + 32], 0
	mov r9d, dword ptr [rbp + 36]
	add r9d, 1
	mov dword ptr [rbp + 36], r9d
	cmp r9d, dword ptr [rbp + 60]
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
	.byte 0x00,0x00,0x00,0x4f # 8 times
	.balign 32, 0
.L13:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
.L14:
	.byte 0xb9,0x79,0x37,0x9e # 8 times
	.balign 32, 0
.L15:
	.byte 0x02,0x03,0x00,0x01,0x06,0x07,0x04,0x05,0x0a,0x0b,0x08,0x09,0x0e,0x0f,0x0c,0x0d
	.byte 0x02,0x03,0x00,0x01,0x06,0x07,0x04,0x05,0x0a,0x0b,0x08,0x09,0x0e,0x0f,0x0c,0x0d
