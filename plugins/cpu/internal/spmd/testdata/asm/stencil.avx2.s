	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L13]
	vmovups ymm1, ymmword ptr [rip + .L14]
	vmovups ymm2, ymmword ptr [rip + .L15]
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
	lea r11, [rdx - 8]
	cmp r13, r11
	jg .L6
	movsxd rsi, r10d
	mov r8, rsi
	imul r8, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r8, [rcx + r8*4]
	mov r9, r10
	sub r9d, 1
	movsxd r9, r9d
	imul r9, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea r9, [rcx + r9*4]
	mov rbx, r10
	add ebx, 1
	movsxd rbx, ebx
	imul rbx, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea rbx, [rcx + rbx*4]
	mov rcx, qword ptr [rbp + 3216]
	imul rsi, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea rsi, [rcx + rsi*4]
.L2:
	# i > 0 && j > 0 && i < 1023 && j < 1023
	test r12d, r12d
	je .L3
	# x[j][i]
	vmovups ymm3, ymmword ptr [r8 + r13*4]
	vaddps ymm3, ymm3, ymmword ptr [r8 + r13*4 - 4]
	vaddps ymm3, ymm3, ymmword ptr [r8 + r13*4 + 4]
	vaddps ymm3, ymm3, ymmword ptr [r9 + r13*4]
	vaddps ymm3, ymm3, ymmword ptr [rbx + r13*4]
	vmulps ymm3, ymm3, ymm1
	vcmpps ymm4, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm4
	vmovups ymmword ptr [rsi + r13*4], ymm3
	jmp .L4
.L3:
.L4:
	test r13d, 120
	je .L10
.L5:
	add r13, 8
	cmp r13, r11
	jle .L2
.L6:
	movsxd rsi, r10d
	mov rbx, rsi
	imul rbx, rdi
	mov rcx, qword ptr [rbp + 3200]
	lea rbx, [rcx + rbx*4]
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
	imul rsi, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea rsi, [rcx + rsi*4]
	cmp r13, rdx
	jge .L9
	mov r8, rdx
	sub r8, r13
	vmovd xmm4, r8d
	vpbroadcastd ymm4, xmm4
	vpcmpgtd ymm4, ymm4, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	test r12d, r12d
	je .L7
	# x[j][i]
	vmaskmovps ymm3, ymm4, ymmword ptr [rbx + r13*4]
	vmaskmovps ymm5, ymm4, ymmword ptr [rbx + r13*4 - 4]
	vaddps ymm5, ymm3, ymm5
	vmaskmovps ymm3, ymm4, ymmword ptr [rbx + r13*4 + 4]
	vaddps ymm3, ymm5, ymm3
	vmaskmovps ymm5, ymm4, ymmword ptr [r9 + r13*4]
	vaddps ymm5, ymm3, ymm5
	vmaskmovps ymm3, ymm4, ymmword ptr [r10 + r13*4]
	vaddps ymm3, ymm5, ymm3
	vmulps ymm3, ymm3, ymm1
	vcmpps ymm5, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm2, ymm5
	vmaskmovps ymmword ptr [rsi + r13*4], ymm4, ymm3
	jmp .L8
.L7:
.L8:
	add r13, 8
.L9:
	mov r8d, dword ptr [rbp + 32]
	sub r14, r8
	add r14, 7
	shr r14, 3
	sub qword ptr [rbp + 48], r14
	jle .L12
	mov dword ptr [rbp + 32], 0
	mov r8d, dword ptr [rbp + 36]
	add r8d, 1
	mov dword ptr [rbp + 36], r8d
	cmp r8d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L10:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L11
	jmp .L5
.L11:
.L12:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L13:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L14:
	.byte 0xcd,0xcc,0x4c,0x3e # 8 times
	.balign 32, 0
.L15:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
