	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L16]
	vmovups ymm1, ymmword ptr [rip + .L17]
	vmovups ymm2, ymmword ptr [rip + .L18]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov edi, dword ptr [rbp + 3096]
	mov r8d, dword ptr [rbp + 56]
	vpbroadcastd ymm3, dword ptr [rbp + 3096]
	vpbroadcastd ymm4, dword ptr [rbp + 3096]
.L1:
	mov r9d, dword ptr [rbp + 32]
	mov r10, qword ptr [rbp + 48]
	shl r10, 3
	add r10, r9
	cmp r10, r8
	cmovg r10, r8
	lea r12, [r9 + 8]
	cmp r12, r10
	jg .L6
.L2:
	# y[g.x]
	movsxd r12, r9d
	vmovups ymm5, ymmword ptr [rsi + r12*4]
	vmovd xmm7, edi
	vpbroadcastd ymm7, xmm7
	vmovdqa ymm8, ymm1
	vpcmpeqd ymm9, ymm9, ymm9
.L3:
	# lo < hi
	vblendvps ymm6, ymm6, ymm8, ymm9
	vpcmpgtd ymm10, ymm7, ymm8
	vpand ymm9, ymm10, ymm9
	vptest ymm9, ymm9
	je .L4
	vpaddd ymm10, ymm8, ymm7
	vpsrad ymm10, ymm10, 1
	vpmaxud ymm11, ymm10, ymm3
	vpcmpeqd ymm11, ymm11, ymm10
	vpand ymm11, ymm11, ymm9
	vptest ymm11, ymm11
	jne .L11
	vpxor ymm11, ymm11, ymm11
	vmovdqa ymm12, ymm9
	vpgatherdd ymm11, [rbx + ymm10*4], ymm12
	vcmpps ymm11, ymm11, ymm5, 1
	vpand ymm11, ymm11, ymm9
	vpandn ymm11, ymm11, ymm9
	# lo = m + 1
	vpaddd ymm12, ymm10, ymm2
	vmovdqa ymm13, ymm7
	vblendvps ymm12, ymm12, ymm8, ymm11
	vblendvps ymm13, ymm13, ymm10, ymm11
	vmovdqa ymm8, ymm12
	vmovdqa ymm7, ymm13
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L3
.L4:
	# y[g.x] = lo
	vcvtdq2ps ymm11, ymm6
	vmovups ymmword ptr [rsi + r12*4], ymm11
.L5:
	add r9, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	lea r12, [r9 + 8]
	cmp r12, r10
	jle .L2
.L6:
	cmp r9, r10
	jge .L10
	mov r12, r10
	sub r12, r9
	vmovd xmm11, r12d
	vpbroadcastd ymm11, xmm11
	vpcmpgtd ymm11, ymm11, ymm0
	# y[g.x]
	movsxd r12, r9d
	vmaskmovps ymm13, ymm11, ymmword ptr [rsi + r12*4]
	vmovd xmm10, edi
	vpbroadcastd ymm10, xmm10
	vmovdqa ymm9, ymm1
	vmovdqa ymm8, ymm11
.L7:
	# lo < hi
	vblendvps ymm12, ymm12, ymm9, ymm8
	vpcmpgtd ymm7, ymm10, ymm9
	vpand ymm8, ymm7, ymm8
	vptest ymm8, ymm8
	je .L8
	vpaddd ymm7, ymm9, ymm10
	vpsrad ymm7, ymm7, 1
	vpmaxud ymm6, ymm7, ymm4
	vpcmpeqd ymm6, ymm6, ymm7
	vpand ymm6, ymm6, ymm8
	vptest ymm6, ymm6
	jne .L12
	vpxor ymm6, ymm6, ymm6
	vmovdqa ymm5, ymm8
	vpgatherdd ymm6, [rbx + ymm7*4], ymm5
	vcmpps ymm6, ymm6, ymm13, 1
	vpand ymm6, ymm6, ymm8
	vpandn ymm6, ymm6, ymm8
	# lo = m + 1
	vpaddd ymm5, ymm7, ymm2
	vmovdqa ymm14, ymm10
	vblendvps ymm5, ymm5, ymm9, ymm6
	vblendvps ymm14, ymm14, ymm7, ymm6
	vmovdqa ymm9, ymm5
	vmovdqa ymm10, ymm14
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L7
.L8:
	# y[g.x] = lo
	vcvtdq2ps ymm6, ymm12
	vmaskmovps ymmword ptr [rsi + r12*4], ymm11, ymm6
.L9:
	add r9, 8
.L10:
	mov r12d, dword ptr [rbp + 32]
	sub r10, r12
	add r10, 7
	shr r10, 3
	sub qword ptr [rbp + 48], r10
	jle .L14
	mov dword ptr [rbp + 32], 0
	mov r12d, dword ptr [rbp + 36]
	add r12d, 1
	mov dword ptr [rbp + 36], r12d
	cmp r12d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L11:
	mov eax, 0
	call .L15
	jmp .L5
.L12:
	mov eax, 1
	call .L15
	jmp .L9
.L13:
.L14:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
.L15:
	inc eax
	mov dword ptr [rbp], eax
	pop rax
	mov qword ptr [rbp + 8], rax
	mov qword ptr [rbp + 264], rcx
	mov qword ptr [rbp + 272], rdx
	mov qword ptr [rbp + 280], rbx
	mov qword ptr [rbp + 304], rsi
	mov qword ptr [rbp + 312], rdi
	mov qword ptr [rbp + 320], r8
	mov qword ptr [rbp + 328], r9
	mov qword ptr [rbp + 336], r10
	mov qword ptr [rbp + 344], r11
	mov qword ptr [rbp + 352], r12
	mov qword ptr [rbp + 360], r13
	mov qword ptr [rbp + 368], r14
	mov qword ptr [rbp + 376], r15
	vmovups ymmword ptr [rbp + 448], ymm0
	vmovups ymmword ptr [rbp + 512], ymm1
	vmovups ymmword ptr [rbp + 576], ymm2
	vmovups ymmword ptr [rbp + 640], ymm3
	vmovups ymmword ptr [rbp + 704], ymm4
	vmovups ymmword ptr [rbp + 768], ymm5
	vmovups ymmword ptr [rbp + 832], ymm6
	vmovups ymmword ptr [rbp + 896], ymm7
	vmovups ymmword ptr [rbp + 960], ymm8
	vmovups ymmword ptr [rbp + 1024], ymm9
	vmovups ymmword ptr [rbp + 1088], ymm10
	vmovups ymmword ptr [rbp + 1152], ymm11
	vmovups ymmword ptr [rbp + 1216], ymm12
	vmovups ymmword ptr [rbp + 1280], ymm13
	vmovups ymmword ptr [rbp + 1344], ymm14
	vmovups ymmword ptr [rbp + 1408], ymm15
	vzeroupper
	ret
	.balign 16
	mov rbp, rdi
	vmovups ymm0, ymmword ptr [rbp + 448]
	vmovups ymm1, ymmword ptr [rbp + 512]
	vmovups ymm2, ymmword ptr [rbp + 576]
	vmovups ymm3, ymmword ptr [rbp + 640]
	vmovups ymm4, ymmword ptr [rbp + 704]
	vmovups ymm5, ymmword ptr [rbp + 768]
	vmovups ymm6, ymmword ptr [rbp + 832]
	vmovups ymm7, ymmword ptr [rbp + 896]
	vmovups ymm8, ymmword ptr [rbp + 960]
	vmovups ymm9, ymmword ptr [rbp + 1024]
	vmovups ymm10, ymmword ptr [rbp + 1088]
	vmovups ymm11, ymmword ptr [rbp + 1152]
	vmovups ymm12, ymmword ptr [rbp + 1216]
	vmovups ymm13, ymmword ptr [rbp + 1280]
	vmovups ymm14, ymmword ptr [rbp + 1344]
	vmovups ymm15, ymmword ptr [rbp + 1408]
	mov rcx, qword ptr [rbp + 264]
	mov rdx, qword ptr [rbp + 272]
	mov rbx, qword ptr [rbp + 280]
	mov rsi, qword ptr [rbp + 304]
	mov rdi, qword ptr [rbp + 312]
	mov r8, qword ptr [rbp + 320]
	mov r9, qword ptr [rbp + 328]
	mov r10, qword ptr [rbp + 336]
	mov r11, qword ptr [rbp + 344]
	mov r12, qword ptr [rbp + 352]
	mov r13, qword ptr [rbp + 360]
	mov r14, qword ptr [rbp + 368]
	mov r15, qword ptr [rbp + 376]
	jmp qword ptr [rbp + 8]
	.balign 64, 0xcc
	.balign 32, 0
.L16:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L17:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L18:
	.byte 0x01,0x00,0x00,0x00 # 8 times
