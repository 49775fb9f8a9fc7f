	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L11]
	vmovups ymm1, ymmword ptr [rip + .L12]
	vmovups ymm2, ymmword ptr [rip + .L13]
	mov rcx, qword ptr [rbp + 3088]
	mov qword ptr [rbp + 3200], rcx
	mov rcx, qword ptr [rbp + 3128]
	mov qword ptr [rbp + 3208], rcx
	mov rdi, qword ptr [rbp + 3104]
	mov rcx, qword ptr [rbp + 3144]
	mov qword ptr [rbp + 3216], rcx
	mov ecx, dword ptr [rbp + 56]
	mov qword ptr [rbp + 3224], rcx
.L1:
	mov r10d, dword ptr [rbp + 36]
	cmp r10d, 0
	setg r12b
	movzx r12d, r12b
	cmp r10d, 1023
	setl r13b
	movzx r13d, r13b
	and r12d, r13d
	mov r13d, dword ptr [rbp + 32]
	mov r14, qword ptr [rbp + 48]
	shl r14, 3
	add r14, r13
	mov rcx, qword ptr [rbp + 3224]
	cmp r14, rcx
	mov rcx, qword ptr [rbp + 3224]
	cmovg r14, rcx
	mov edx, 0
	movsxd rdx, edx
	add rdx, 1
	cmp r13, rdx
	cmovl r13, rdx
	mov rdx, r14
	mov r11d, 1023
	movsxd r11, r11d
	cmp rdx, r11
	cmovg rdx, r11
	lea r11, [r13 + 8]
	cmp r11, rdx
	jg .L5
	movsxd r11, r10d
	mov rsi, r11
	imul rsi, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea rsi, [rcx + rsi*4]
	mov r8, r10
	sub r8d, 1
	movsxd r8, r8d
	imul r8, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r8, [rcx + r8*4]
	mov r9, r10
	add r9d, 1
	movsxd r9, r9d
	imul r9, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r9, [rcx + r9*4]
	mov rcx, qword ptr [rbp + 3216]
	imul r11, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea r11, [rcx + r11*4]
.L2:
	# i > 0 && j > 0 && i < 1023 && j < 1023
	test r12d, r12d
	je .L3
	# x[j][i]
	movsxd rbx, r13d
	vmovups ymm3, ymmword ptr [rsi + rbx*4]
	vaddps ymm3, ymm3, ymmword ptr [rsi + rbx*4 - 4]
	vaddps ymm3, ymm3, ymmword ptr [rsi + rbx*4 + 4]
	vaddps ymm3, ymm3, ymmword ptr [r8 + rbx*4]
	vaddps ymm3, ymm3, ymmword ptr [r9 + rbx*4]
	vmulps ymm3, ymm3, ymm1
	vcmpps ymm4, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm4
	vmovups ymmword ptr [r11 + rbx*4], ymm3
	jmp .L4
.L3:
.L4:
	add r13, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea rbx, [r13 + 8]
	cmp rbx, rdx
	jle .L2
.L5:
	movsxd rbx, r10d
	mov r11, rbx
	imul r11, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r11, [rcx + r11*4]
	mov r9, r10
	sub r9d, 1
	movsxd r9, r9d
	imul r9, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r9, [rcx + r9*4]
	add r10d, 1
	movsxd r10, r10d
	imul r10, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r10, [rcx + r10*4]
	mov rcx, qword ptr [rbp + 3216]
	imul rbx, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea rbx, [rcx + rbx*4]
	cmp r13, rdx
	jge .L8
	mov r8, rdx
	sub r8, r13
	vmovd xmm4, r8d
	vpbroadcastd ymm4, xmm4
	vpcmpgtd ymm4, ymm4, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	test r12d, r12d
	je .L6
	# x[j][i]
	movsxd r8, r13d
	vmaskmovps ymm3, ymm4, ymmword ptr [r11 + r8*4]
	vmaskmovps ymm5, ymm4, ymmword ptr [r11 + r8*4 - 4]
	vaddps ymm5, ymm3, ymm5
	vmaskmovps ymm3, ymm4, ymmword ptr [r11 + r8*4 + 4]
	vaddps ymm3, ymm5, ymm3
	vmaskmovps ymm5, ymm4, ymmword ptr [r9 + r8*4]
	vaddps ymm5, ymm3, ymm5
	vmaskmovps ymm3, ymm4, ymmword ptr [r10 + r8*4]
	vaddps ymm3, ymm5, ymm3
	vmulps ymm3, ymm3, ymm1
	vcmpps ymm5, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm5
	vmaskmovps ymmword ptr [rbx + r8*4], ymm4, ymm3
	jmp .L7
.L6:
.L7:
	add r13, 8
.L8:
	mov r8d, dword ptr [rbp + 32]
	sub r14, r8
	add r14, 7
	shr r14, 3
	sub qword ptr [rbp + 48], r14
	jle .L10
	mov dword ptr [rbp + 32], 0
	mov r8d, dword ptr [rbp + 36]
	add r8d, 1
	mov dword ptr [rbp + 36], r8d
	cmp r8d, dword ptr [rbp + 60]
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
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L12:
	.byte 0xcd,0xcc,0x4c,0x3e # 8 times
	.balign 32, 0
.L13:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
