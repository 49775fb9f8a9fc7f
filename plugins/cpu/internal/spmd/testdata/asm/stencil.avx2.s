	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L11]
	vmovups ymm1, ymmword ptr [rip + .L12]
	vmovups ymm2, ymmword ptr [rip + .L13]
	vmovups ymm3, ymmword ptr [rip + .L14]
	mov rbx, qword ptr [rbp + 3088]
	mov rcx, qword ptr [rbp + 3128]
	mov qword ptr [rbp + 3200], rcx
	mov rdi, qword ptr [rbp + 3104]
	mov rcx, qword ptr [rbp + 3144]
	mov qword ptr [rbp + 3208], rcx
	mov r9d, dword ptr [rbp + 56]
.L1:
	mov r10d, dword ptr [rbp + 36]
	mov r12d, dword ptr [rbp + 32]
	mov r13, qword ptr [rbp + 48]
	shl r13, 3
	add r13, r12
	cmp r13, r9
	cmovg r13, r9
	lea r14, [r12 + 8]
	cmp r14, r13
	jg .L4
	movsxd r14, r10d
	mov rdx, r14
	imul rdx, rdi
	lea rdx, [rbx + rdx*4]
	mov r11, r10
	sub r11d, 1
	movsxd r11, r11d
	imul r11, rdi
	lea r11, [rbx + r11*4]
	mov rsi, r10
	add esi, 1
	movsxd rsi, esi
	imul rsi, rdi
	lea rsi, [rbx + rsi*4]
	mov rcx, qword ptr [rbp + 3208]
	imul r14, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r14, [rcx + r14*4]
.L2:
	vmovd xmm4, r12d
	vpbroadcastd ymm4, xmm4
	vpaddd ymm4, ymm4, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L7
	cmp r10d, 1023
	jge .L7
	vpcmpgtd ymm5, ymm4, ymm1
	vpcmpgtd ymm4, ymm2, ymm4
	vpand ymm5, ymm4, ymm5
	vptest ymm5, ymm5
	je .L3
	# x[j][i]
	movsxd r8, r12d
	vmaskmovps ymm4, ymm5, ymmword ptr [rdx + r8*4]
	vmaskmovps ymm6, ymm5, ymmword ptr [rdx + r8*4 - 4]
	vaddps ymm6, ymm4, ymm6
	vmaskmovps ymm4, ymm5, ymmword ptr [rdx + r8*4 + 4]
	vaddps ymm4, ymm6, ymm4
	vmaskmovps ymm6, ymm5, ymmword ptr [r11 + r8*4]
	vaddps ymm6, ymm4, ymm6
	vmaskmovps ymm4, ymm5, ymmword ptr [rsi + r8*4]
	vaddps ymm4, ymm6, ymm4
	vmulps ymm4, ymm4, ymm3
	vmaskmovps ymmword ptr [r14 + r8*4], ymm5, ymm4
.L3:
	add r12, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea r8, [r12 + 8]
	cmp r8, r13
	jle .L2
.L4:
	movsxd r8, r10d
	mov r14, r8
	imul r14, rdi
	lea r14, [rbx + r14*4]
	mov rsi, r10
	sub esi, 1
	movsxd rsi, esi
	imul rsi, rdi
	lea rsi, [rbx + rsi*4]
	mov r11, r10
	add r11d, 1
	movsxd r11, r11d
	imul r11, rdi
	lea r11, [rbx + r11*4]
	mov rcx, qword ptr [rbp + 3208]
	imul r8, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r8, [rcx + r8*4]
	cmp r12, r13
	jge .L6
	mov rdx, r13
	sub rdx, r12
	vmovd xmm4, edx
	vpbroadcastd ymm4, xmm4
	vpcmpgtd ymm4, ymm4, ymm0
	vmovd xmm5, r12d
	vpbroadcastd ymm5, xmm5
	vpaddd ymm5, ymm5, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L8
	cmp r10d, 1023
	jge .L8
	vpcmpgtd ymm7, ymm5, ymm1
	vpand ymm6, ymm7, ymm4
	vpcmpgtd ymm7, ymm2, ymm5
	vpand ymm6, ymm7, ymm6
	vptest ymm6, ymm6
	je .L5
	# x[j][i]
	movsxd rdx, r12d
	vmaskmovps ymm7, ymm6, ymmword ptr [r14 + rdx*4]
	vmaskmovps ymm5, ymm6, ymmword ptr [r14 + rdx*4 - 4]
	vaddps ymm5, ymm7, ymm5
	vmaskmovps ymm7, ymm6, ymmword ptr [r14 + rdx*4 + 4]
	vaddps ymm7, ymm5, ymm7
	vmaskmovps ymm5, ymm6, ymmword ptr [rsi + rdx*4]
	vaddps ymm5, ymm7, ymm5
	vmaskmovps ymm7, ymm6, ymmword ptr [r11 + rdx*4]
	vaddps ymm7, ymm5, ymm7
	vmulps ymm7, ymm7, ymm3
	vmaskmovps ymmword ptr [r8 + rdx*4], ymm6, ymm7
.L5:
	add r12, 8
.L6:
	mov edx, dword ptr [rbp + 32]
	sub r13, rdx
	add r13, 7
	shr r13, 3
	sub qword ptr [rbp + 48], r13
	jle .L10
	mov dword ptr [rbp + 32], 0
	mov edx, dword ptr [rbp + 36]
	add edx, 1
	mov dword ptr [rbp + 36], edx
	cmp edx, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L7:
	vpxor ymm5, ymm5, ymm5
	jmp .L3
.L8:
	vpxor ymm6, ymm6, ymm6
	jmp .L5
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
	.byte 0xff,0x03,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L14:
	.byte 0xcd,0xcc,0x4c,0x3e # 8 times
