	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L11]
	vmovups ymm1, ymmword ptr [rip + .L12]
	vmovups ymm2, ymmword ptr [rip + .L13]
	vmovups ymm3, ymmword ptr [rip + .L14]
	vmovups ymm4, ymmword ptr [rip + .L15]
	mov rcx, qword ptr [rbp + 3088]
	mov qword ptr [rbp + 3200], rcx
	mov rcx, qword ptr [rbp + 3128]
	mov qword ptr [rbp + 3208], rcx
	mov rcx, qword ptr [rbp + 3104]
	mov qword ptr [rbp + 3216], rcx
	mov rcx, qword ptr [rbp + 3144]
	mov qword ptr [rbp + 3224], rcx
	mov ecx, dword ptr [rbp + 56]
	mov qword ptr [rbp + 3232], rcx
.L1:
	mov r10d, dword ptr [rbp + 36]
	mov r12d, dword ptr [rbp + 32]
	mov r13, qword ptr [rbp + 48]
	shl r13, 3
	add r13, r12
	mov rcx, qword ptr [rbp + 3232]
	cmp r13, rcx
	mov rcx, qword ptr [rbp + 3232]
	cmovg r13, rcx
	lea r14, [r12 + 8]
	cmp r14, r13
	jg .L5
	movsxd r14, r10d
	mov rdx, r14
	mov rcx, qword ptr [rbp + 3216]
	imul rdx, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rdx, [rcx + rdx*4]
	mov r11, r10
	sub r11d, 1
	movsxd r11, r11d
	mov rcx, qword ptr [rbp + 3216]
	imul r11, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rcx, [rcx + r11*4]
	mov qword ptr [r15 + 480], rcx
	mov r9, r10
	add r9d, 1
	movsxd r9, r9d
	mov rcx, qword ptr [rbp + 3216]
	imul r9, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rcx, [rcx + r9*4]
	mov qword ptr [r15 + 488], rcx
	mov rcx, qword ptr [rbp + 3224]
	imul r14, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea r14, [rcx + r14*4]
	movsxd rsi, r10d
	mov r8, rsi
	mov rcx, qword ptr [rbp + 3216]
	imul r8, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r8, [rcx + r8*4]
	mov rbx, r10
	sub ebx, 1
	movsxd rbx, ebx
	mov rcx, qword ptr [rbp + 3216]
	imul rbx, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rbx, [rcx + rbx*4]
	mov rdi, r10
	add edi, 1
	movsxd rdi, edi
	mov rcx, qword ptr [rbp + 3216]
	imul rdi, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rdi, [rcx + rdi*4]
	mov rcx, qword ptr [rbp + 3224]
	imul rsi, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea rsi, [rcx + rsi*4]
.L2:
	vmovd xmm5, r12d
	vpbroadcastd ymm5, xmm5
	vpaddd ymm5, ymm5, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L4
	cmp r10d, 1023
	jge .L4
	movsxd r11, r12d
	cmp r11, 0
	jle .L3
	lea r9, [r11 + 7]
	cmp r9, 1023
	jge .L3
	# x[j][i]
	vmovups ymm6, ymmword ptr [rdx + r11*4]
	vaddps ymm6, ymm6, ymmword ptr [rdx + r11*4 - 4]
	vaddps ymm6, ymm6, ymmword ptr [rdx + r11*4 + 4]
	mov rcx, qword ptr [r15 + 480]
	vaddps ymm6, ymm6, ymmword ptr [rcx + r11*4]
	mov rcx, qword ptr [r15 + 488]
	vaddps ymm6, ymm6, ymmword ptr [rcx + r11*4]
	vmulps ymm6, ymm6, ymm1
	vcmpps ymm7, ymm6, ymm6, 3
	vblendvps ymm6, ymm6, ymm2, ymm7
	vmovups ymmword ptr [r14 + r11*4], ymm6
	jmp .L4
.L3:
	vpcmpgtd ymm7, ymm5, ymm3
	vpcmpgtd ymm5, ymm4, ymm5
	vpand ymm7, ymm5, ymm7
	vptest ymm7, ymm7
	je .L4
	# x[j][i]
	movsxd r9, r12d
	vmaskmovps ymm5, ymm7, ymmword ptr [r8 + r9*4]
	vmaskmovps ymm6, ymm7, ymmword ptr [r8 + r9*4 - 4]
	vaddps ymm6, ymm5, ymm6
	vmaskmovps ymm5, ymm7, ymmword ptr [r8 + r9*4 + 4]
	vaddps ymm5, ymm6, ymm5
	vmaskmovps ymm6, ymm7, ymmword ptr [rbx + r9*4]
	vaddps ymm6, ymm5, ymm6
	vmaskmovps ymm5, ymm7, ymmword ptr [rdi + r9*4]
	vaddps ymm5, ymm6, ymm5
	vmulps ymm5, ymm5, ymm1
	vcmpps ymm6, ymm5, ymm5, 3
	vblendvps ymm5, ymm5, ymm2, ymm6
	vmaskmovps ymmword ptr [rsi + r9*4], ymm7, ymm5
.L4:
	add r12, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea r9, [r12 + 8]
	cmp r9, r13
	jle .L2
.L5:
	movsxd r9, r10d
	mov rsi, r9
	mov rcx, qword ptr [rbp + 3216]
	imul rsi, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rsi, [rcx + rsi*4]
	mov rdi, r10
	sub edi, 1
	movsxd rdi, edi
	mov rcx, qword ptr [rbp + 3216]
	imul rdi, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rdi, [rcx + rdi*4]
	mov rbx, r10
	add ebx, 1
	movsxd rbx, ebx
	mov rcx, qword ptr [rbp + 3216]
	imul rbx, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rbx, [rcx + rbx*4]
	mov rcx, qword ptr [rbp + 3224]
	imul r9, rcx
	mov rcx, qword ptr [rbp + 3208]
	lea r9, [rcx + r9*4]
	cmp r12, r13
	jge .L7
	mov r8, r13
	sub r8, r12
	vmovd xmm6, r8d
	vpbroadcastd ymm6, xmm6
	vpcmpgtd ymm6, ymm6, ymm0
	vmovd xmm5, r12d
	vpbroadcastd ymm5, xmm5
	vpaddd ymm5, ymm5, ymm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L8
	cmp r10d, 1023
	jge .L8
	vpcmpgtd ymm8, ymm5, ymm3
	vpand ymm7, ymm8, ymm6
	vpcmpgtd ymm8, ymm4, ymm5
	vpand ymm7, ymm8, ymm7
	vptest ymm7, ymm7
	je .L6
	# x[j][i]
	movsxd r8, r12d
	vmaskmovps ymm8, ymm7, ymmword ptr [rsi + r8*4]
	vmaskmovps ymm5, ymm7, ymmword ptr [rsi + r8*4 - 4]
	vaddps ymm5, ymm8, ymm5
	vmaskmovps ymm8, ymm7, ymmword ptr [rsi + r8*4 + 4]
	vaddps ymm8, ymm5, ymm8
	vmaskmovps ymm5, ymm7, ymmword ptr [rdi + r8*4]
	vaddps ymm5, ymm8, ymm5
	vmaskmovps ymm8, ymm7, ymmword ptr [rbx + r8*4]
	vaddps ymm8, ymm5, ymm8
	vmulps ymm8, ymm8, ymm1
	vcmpps ymm5, ymm8, ymm8, 3
	vblendvps ymm8, ymm8, ymm2, ymm5
	vmaskmovps ymmword ptr [r9 + r8*4], ymm7, ymm8
.L6:
	add r12, 8
.L7:
	mov r8d, dword ptr [rbp + 32]
	sub r13, r8
	add r13, 7
	shr r13, 3
	sub qword ptr [rbp + 48], r13
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
.L8:
	vpxor ymm7, ymm7, ymm7
	jmp .L6
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
	.balign 32, 0
.L14:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L15:
	.byte 0xff,0x03,0x00,0x00 # 8 times
