	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L9]
	vmovups ymm1, ymmword ptr [rip + .L10]
	vmovups ymm2, ymmword ptr [rip + .L11]
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
	vmovups ymm3, ymmword ptr [rbx + r8*4]
	vfmadd213ps ymm3, ymm1, ymmword ptr [rsi + r8*4]
	vcmpps ymm4, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm4
	vmovups ymmword ptr [rsi + r8*4], ymm3
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
	vmovd xmm4, r10d
	vpbroadcastd ymm4, xmm4
	vpcmpgtd ymm4, ymm4, ymm0
	# x[g.x]
	vmaskmovps ymm3, ymm4, ymmword ptr [rbx + r8*4]
	vmaskmovps ymm5, ymm4, ymmword ptr [rsi + r8*4]
	vfmadd213ps ymm3, ymm1, ymm5
	vcmpps ymm5, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm5
	vmaskmovps ymmword ptr [rsi + r8*4], ymm4, ymm3
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
	.byte 0x00,0x00,0x00,0x3f # 8 times
	.balign 32, 0
.L11:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
