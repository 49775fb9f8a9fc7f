	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L19]
	vmovups ymm1, ymmword ptr [rip + .L20]
	vmovups ymm2, ymmword ptr [rip + .L21]
	vmovups ymm3, ymmword ptr [rip + .L22]
	vmovups ymm4, ymmword ptr [rip + .L23]
	mov rbx, qword ptr [rbp + 3096]
	mov rsi, qword ptr [rbp + 3136]
	mov rdi, qword ptr [rbp + 3176]
	mov r8d, dword ptr [rbp + 56]
	vpbroadcastd ymm5, dword ptr [rbp + 3104]
	vpbroadcastd ymm6, dword ptr [rbp + 3184]
	lea r9, [rdi]
	vpbroadcastd ymm7, dword ptr [rbp + 3104]
	vpbroadcastd ymm8, dword ptr [rbp + 3184]
	lea rdi, [rdi]
.L1:
	mov r10d, dword ptr [rbp + 32]
	mov r12, qword ptr [rbp + 48]
	shl r12, 3
	add r12, r10
	cmp r12, r8
	cmovg r12, r8
	lea r13, [r12 - 8]
	cmp r10, r13
	jg .L6
.L2:
	vmovd xmm9, r10d
	vpbroadcastd ymm9, xmm9
	vpaddd ymm9, ymm9, ymm0
	# y[g.x]
	vmovups ymm10, ymmword ptr [rsi + r10*4]
	vcmpps ymm11, ymm10, ymm10, 7
	vcmpps ymm12, ymm10, ymm1, 13
	vcvttps2dq ymm10, ymm10
	vpand ymm10, ymm11, ymm10
	vblendvps ymm10, ymm10, ymm2, ymm12
	vmovups ymm12, ymmword ptr [rsi + r10*4 + 4]
	vcmpps ymm11, ymm12, ymm12, 7
	vcmpps ymm13, ymm12, ymm1, 13
	vcvttps2dq ymm12, ymm12
	vpand ymm12, ymm11, ymm12
	vblendvps ymm12, ymm12, ymm2, ymm13
	vpmaxud ymm13, ymm12, ymm5
	vpcmpeqd ymm13, ymm13, ymm12
	vptest ymm13, ymm13
	jne .L11
	vmovq r14, xmm12
	movsxd rcx, r14d
	sar r14, 32
	vmovss xmm13, dword ptr [rbx + rcx*4]
	vinsertps xmm13, xmm13, dword ptr [rbx + r14*4], 16
	vpextrq rcx, xmm12, 1
	movsxd r14, ecx
	sar rcx, 32
	vinsertps xmm13, xmm13, dword ptr [rbx + r14*4], 32
	vinsertps xmm13, xmm13, dword ptr [rbx + rcx*4], 48
	vextracti128 xmm12, ymm12, 1
	vmovq r14, xmm12
	movsxd rcx, r14d
	sar r14, 32
	vmovss xmm11, dword ptr [rbx + rcx*4]
	vinsertps xmm11, xmm11, dword ptr [rbx + r14*4], 16
	vpextrq rcx, xmm12, 1
	movsxd r14, ecx
	sar rcx, 32
	vinsertps xmm11, xmm11, dword ptr [rbx + r14*4], 32
	vinsertps xmm11, xmm11, dword ptr [rbx + rcx*4], 48
	vinserti128 ymm11, ymm13, xmm11, 1
	vpmulld ymm9, ymm9, ymm3
	vmovq r14, xmm9
	movsxd rcx, r14d
	sar r14, 32
	vmovss xmm13, dword ptr [rbx + rcx*4]
	vinsertps xmm13, xmm13, dword ptr [rbx + r14*4], 16
	vpextrq rcx, xmm9, 1
	movsxd r14, ecx
	sar rcx, 32
	vinsertps xmm13, xmm13, dword ptr [rbx + r14*4], 32
	vinsertps xmm13, xmm13, dword ptr [rbx + rcx*4], 48
	vextracti128 xmm9, ymm9, 1
	vmovq r14, xmm9
	movsxd rcx, r14d
	sar r14, 32
	vmovss xmm12, dword ptr [rbx + rcx*4]
	vinsertps xmm12, xmm12, dword ptr [rbx + r14*4], 16
	vpextrq rcx, xmm9, 1
	movsxd r14, ecx
	sar rcx, 32
	vinsertps xmm12, xmm12, dword ptr [rbx + r14*4], 32
	vinsertps xmm12, xmm12, dword ptr [rbx + rcx*4], 48
	vinserti128 ymm12, ymm13, xmm12, 1
	vaddps ymm12, ymm11, ymm12
	vcmpps ymm11, ymm12, ymm12, 3
	vblendvps ymm12, ymm12, ymm4, ymm11
	vpmaxud ymm11, ymm10, ymm6
	vpcmpeqd ymm11, ymm11, ymm10
	vptest ymm11, ymm11
	jne .L12
	vmovups ymmword ptr [r15 + 96], ymm12
	vmovups ymmword ptr [r15 + 64], ymm10
	mov r14d, 255
.L3:
	tzcnt ecx, r14d
	mov edx, dword ptr [r15 + rcx*4 + 64]
	lea rdx, [r9 + rdx*4]
	mov ecx, dword ptr [r15 + rcx*4 + 96]
	mov dword ptr [rdx], ecx
	blsr r14d, r14d
	jne .L3
.L4:
	test r10d, 120
	je .L13
.L5:
	add r10, 8
	cmp r10, r13
	jle .L2
.L6:
	cmp r10, r12
	jge .L10
	mov rcx, r12
	sub rcx, r10
	vmovd xmm11, ecx
	vpbroadcastd ymm11, xmm11
	vpcmpgtd ymm11, ymm11, ymm0
	vmovd xmm12, r10d
	vpbroadcastd ymm12, xmm12
	vpaddd ymm12, ymm12, ymm0
	# y[g.x]
	vmaskmovps ymm10, ymm11, ymmword ptr [rsi + r10*4]
	vcmpps ymm13, ymm10, ymm10, 7
	vcmpps ymm9, ymm10, ymm1, 13
	vcvttps2dq ymm10, ymm10
	vpand ymm10, ymm13, ymm10
	vblendvps ymm10, ymm10, ymm2, ymm9
	vmaskmovps ymm9, ymm11, ymmword ptr [rsi + r10*4 + 4]
	vcmpps ymm13, ymm9, ymm9, 7
	vcmpps ymm14, ymm9, ymm1, 13
	vcvttps2dq ymm9, ymm9
	vpand ymm9, ymm13, ymm9
	vblendvps ymm9, ymm9, ymm2, ymm14
	vpmaxud ymm14, ymm9, ymm7
	vpcmpeqd ymm14, ymm14, ymm9
	vpand ymm14, ymm14, ymm11
	vptest ymm14, ymm14
	jne .L14
	vpxor ymm14, ymm14, ymm14
	vmovdqa ymm13, ymm11
	vpgatherdd ymm14, [rbx + ymm9*4], ymm13
	vpmulld ymm13, ymm12, ymm3
	vpxor ymm9, ymm9, ymm9
	vmovdqa ymm12, ymm11
	vpgatherdd ymm9, [rbx + ymm13*4], ymm12
	vaddps ymm12, ymm14, ymm9
	vcmpps ymm9, ymm12, ymm12, 3
	vblendvps ymm12, ymm12, ymm4, ymm9
	vpmaxud ymm9, ymm10, ymm8
	vpcmpeqd ymm9, ymm9, ymm10
	vpand ymm9, ymm9, ymm11
	vptest ymm9, ymm9
	jne .L15
	vmovups ymmword ptr [r15 + 96], ymm12
	vmovups ymmword ptr [r15 + 64], ymm10
	vmovmskps ecx, ymm11
	test ecx, ecx
	je .L8
.L7:
	tzcnt edx, ecx
	mov r14d, dword ptr [r15 + rdx*4 + 64]
	lea r14, [rdi + r14*4]
	mov edx, dword ptr [r15 + rdx*4 + 96]
	mov dword ptr [r14], edx
	blsr ecx, ecx
	jne .L7
.L8:
.L9:
	add r10, 8
.L10:
	mov edx, dword ptr [rbp + 32]
	sub r12, rdx
	add r12, 7
	shr r12, 3
	sub qword ptr [rbp + 48], r12
	jle .L17
	mov dword ptr [rbp + 32], 0
	mov edx, dword ptr [rbp + 36]
	add edx, 1
	mov dword ptr [rbp + 36], edx
	cmp edx, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L11:
	mov eax, 0
	call .L18
	jmp .L4
.L12:
	mov eax, 1
	call .L18
	jmp .L4
.L13:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L16
	jmp .L5
.L14:
	mov eax, 2
	call .L18
	jmp .L9
.L15:
	mov eax, 3
	call .L18
	jmp .L9
.L16:
.L17:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
.L18:
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
.L19:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L20:
	.byte 0x00,0x00,0x00,0x4f # 8 times
	.balign 32, 0
.L21:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L22:
	.byte 0x03,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L23:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
