	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L21]
	vmovups ymm1, ymmword ptr [rip + .L22]
	mov rcx, qword ptr [rbp + 3088]
	mov qword ptr [rbp + 3200], rcx
	mov rcx, qword ptr [rbp + 3128]
	mov qword ptr [rbp + 3208], rcx
	mov rcx, qword ptr [rbp + 3104]
	mov qword ptr [rbp + 3216], rcx
	mov r8, qword ptr [rbp + 3144]
	mov ecx, dword ptr [rbp + 56]
	mov qword ptr [rbp + 3224], rcx
.L1:
	mov r10d, dword ptr [rbp + 32]
	cmp dword ptr [rbp + 164], 0
	jg .L3
	mov dword ptr [rbp + 164], -1
	cmp qword ptr [rbp + 48], 8
	jl .L2
	lea r10, [r10 + 8]
	cmp r10d, dword ptr [rbp + 56]
	ja .L2
	mov r10d, dword ptr [rbp + 160]
	add r10d, 16
	cmp r10d, dword ptr [rbp + 60]
	cmova r10d, dword ptr [rbp + 60]
	mov r12d, dword ptr [rbp + 36]
	add r12d, 8
	cmp r12d, r10d
	ja .L2
	mov dword ptr [rbp + 164], 0
.L2:
.L3:
	mov r12d, dword ptr [rbp + 36]
	mov r10d, dword ptr [rbp + 32]
	lea r13, [r10 + 8]
	mov rcx, qword ptr [rbp + 3224]
	cmp r13, rcx
	mov rcx, qword ptr [rbp + 3224]
	cmovg r13, rcx
	lea r14, [r13 - 8]
	cmp r10, r14
	jg .L7
	movsxd rdx, r12d
	mov r11, rdx
	mov rcx, qword ptr [rbp + 3216]
	imul r11, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r11, [rcx + r11*4]
	mov rcx, qword ptr [rbp + 3208]
	lea rbx, [rcx + rdx*4]
	mov rcx, qword ptr [rbp + 3208]
	lea rdx, [rcx + rdx*4]
.L4:
	vmovd xmm2, r10d
	vpbroadcastd ymm2, xmm2
	vpaddd ymm2, ymm2, ymm0
	# x[g.y][g.x]
	prefetcht0 [r11 + r10*4 + 32]
	vmovups ymm3, ymmword ptr [r11 + r10*4]
	vmovd xmm4, r8d
	vpbroadcastd ymm4, xmm4
	vpmulld ymm4, ymm4, ymm1
	vpmulld ymm4, ymm2, ymm4
	mov edi, dword ptr [rbp + 164]
	test edi, edi
	js .L16
	vmovups ymmword ptr [r15 + rdi*1 + 480], ymm3
	cmp edi, 224
	jne .L5
	vmovups ymmword ptr [r15 + 64], ymm4
	vmovups ymm2, ymmword ptr [r15 + 480]
	vmovups ymm5, ymmword ptr [r15 + 512]
	vmovups ymm6, ymmword ptr [r15 + 544]
	vmovups ymm7, ymmword ptr [r15 + 576]
	vunpcklps ymm8, ymm2, ymm5
	vunpckhps ymm5, ymm2, ymm5
	vunpcklps ymm2, ymm6, ymm7
	vunpckhps ymm7, ymm6, ymm7
	vunpcklpd ymm6, ymm8, ymm2
	vunpckhpd ymm2, ymm8, ymm2
	vunpcklpd ymm8, ymm5, ymm7
	vunpckhpd ymm7, ymm5, ymm7
	vmovups ymm5, ymmword ptr [r15 + 608]
	vmovups ymm9, ymmword ptr [r15 + 640]
	vmovups ymm10, ymmword ptr [r15 + 672]
	vmovups ymm11, ymmword ptr [r15 + 704]
	vunpcklps ymm12, ymm5, ymm9
	vunpckhps ymm9, ymm5, ymm9
	vunpcklps ymm5, ymm10, ymm11
	vunpckhps ymm11, ymm10, ymm11
	vunpcklpd ymm10, ymm12, ymm5
	vunpckhpd ymm5, ymm12, ymm5
	vunpcklpd ymm12, ymm9, ymm11
	vunpckhpd ymm11, ymm9, ymm11
	vperm2f128 ymm9, ymm6, ymm10, 32
	movsxd rdi, dword ptr [r15 + 64]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm6, ymm10, 49
	movsxd rdi, dword ptr [r15 + 80]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm2, ymm5, 32
	movsxd rdi, dword ptr [r15 + 68]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm2, ymm5, 49
	movsxd rdi, dword ptr [r15 + 84]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm8, ymm12, 32
	movsxd rdi, dword ptr [r15 + 72]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm8, ymm12, 49
	movsxd rdi, dword ptr [r15 + 88]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm7, ymm11, 32
	movsxd rdi, dword ptr [r15 + 76]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
	vperm2f128 ymm9, ymm7, ymm11, 49
	movsxd rdi, dword ptr [r15 + 92]
	vmovups ymmword ptr [rbx + rdi*1 - 28], ymm9
.L5:
	test r10d, 120
	je .L18
.L6:
	add r10, 8
	cmp r10, r14
	jle .L4
.L7:
	movsxd r9, r12d
	mov rsi, r9
	mov rcx, qword ptr [rbp + 3216]
	imul rsi, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea rsi, [rcx + rsi*4]
	mov rcx, qword ptr [rbp + 3208]
	lea r9, [rcx + r9*4]
	cmp r10, r13
	jge .L10
	mov rdi, r13
	sub rdi, r10
	vmovd xmm9, edi
	vpbroadcastd ymm9, xmm9
	vpcmpgtd ymm9, ymm9, ymm0
	vmovd xmm4, r10d
	vpbroadcastd ymm4, xmm4
	vpaddd ymm4, ymm4, ymm0
	# x[g.y][g.x]
	prefetcht0 [rsi + r10*4 + 32]
	vmaskmovps ymm3, ymm9, ymmword ptr [rsi + r10*4]
	vmovd xmm11, r8d
	vpbroadcastd ymm11, xmm11
	vpmulld ymm11, ymm11, ymm1
	vpmulld ymm11, ymm4, ymm11
	vmovups ymmword ptr [r15 + 96], ymm3
	vmovups ymmword ptr [r15 + 64], ymm11
	vmovmskps edi, ymm9
	test edi, edi
	je .L9
.L8:
	tzcnt edx, edi
	mov r11d, dword ptr [r15 + rdx*4 + 64]
	lea r11, [r9 + r11*1]
	mov edx, dword ptr [r15 + rdx*4 + 96]
	mov dword ptr [r11], edx
	blsr edi, edi
	jne .L8
.L9:
	add r10, 8
.L10:
	mov edx, dword ptr [rbp + 164]
	test edx, edx
	js .L12
	add edx, 32
	cmp edx, 256
	jne .L11
	mov edx, 0
.L11:
	mov dword ptr [rbp + 164], edx
.L12:
	sub qword ptr [rbp + 48], 1
	jle .L20
	mov edx, dword ptr [rbp + 160]
	add edx, 16
	cmp edx, dword ptr [rbp + 60]
	cmova edx, dword ptr [rbp + 60]
	mov r11d, dword ptr [rbp + 36]
	add r11d, 1
	cmp r11d, edx
	jae .L13
	mov dword ptr [rbp + 36], r11d
	jmp .L1
.L13:
	mov r11d, dword ptr [rbp + 160]
	mov dword ptr [rbp + 36], r11d
	mov r11d, dword ptr [rbp + 32]
	add r11d, 8
	cmp r11d, dword ptr [rbp + 56]
	jae .L14
	mov dword ptr [rbp + 32], r11d
	jmp .L1
.L14:
	mov dword ptr [rbp + 32], 0
	cmp edx, dword ptr [rbp + 60]
	jb .L15
	mov edx, 0
	add dword ptr [rbp + 40], 1
.L15:
	mov dword ptr [rbp + 160], edx
	mov dword ptr [rbp + 36], edx
	jmp .L1
.L16:
	vmovups ymmword ptr [r15 + 96], ymm3
	vmovups ymmword ptr [r15 + 64], ymm4
	mov edi, 255
.L17:
	tzcnt r9d, edi
	mov esi, dword ptr [r15 + r9*4 + 64]
	lea rsi, [rdx + rsi*1]
	mov r9d, dword ptr [r15 + r9*4 + 96]
	mov dword ptr [rsi], r9d
	blsr edi, edi
	jne .L17
	jmp .L5
.L18:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L19
	jmp .L6
.L19:
.L20:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L21:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L22:
	.byte 0x04,0x00,0x00,0x00 # 8 times
