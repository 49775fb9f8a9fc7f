	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L17]
	vmovups ymm1, ymmword ptr [rip + .L18]
	vmovups ymm2, ymmword ptr [rip + .L19]
	vmovups ymm3, ymmword ptr [rip + .L20]
	vmovups ymm4, ymmword ptr [rip + .L21]
	vmovups ymm5, ymmword ptr [rip + .L22]
	mov rbx, qword ptr [rbp + 3096]
	mov rsi, qword ptr [rbp + 3136]
	mov rdi, qword ptr [rbp + 3176]
	mov r8d, dword ptr [rbp + 56]
	vpbroadcastd ymm6, dword ptr [rbp + 3104]
	vpbroadcastd ymm7, dword ptr [rbp + 3184]
	lea r9, [rdi]
	vpbroadcastd ymm8, dword ptr [rbp + 3104]
	vpbroadcastd ymm9, dword ptr [rbp + 3184]
	lea rdi, [rdi]
.L1:
	mov r10d, dword ptr [rbp + 32]
	mov r12, qword ptr [rbp + 48]
	shl r12, 3
	add r12, r10
	cmp r12, r8
	cmovg r12, r8
	lea r13, [r10 + 8]
	cmp r13, r12
	jg .L5
.L2:
	vmovd xmm10, r10d
	vpbroadcastd ymm10, xmm10
	vpaddd ymm10, ymm10, ymm0
	# y[g.x]
	movsxd r13, r10d
	vmovups ymm11, ymmword ptr [rsi + r13*4]
	vcvttps2dq ymm12, ymm11
	vcmpps ymm13, ymm11, ymm1, 13
	vcmpps ymm11, ymm11, ymm11, 3
	vblendvps ymm12, ymm12, ymm2, ymm13
	vblendvps ymm12, ymm12, ymm3, ymm11
	vmovups ymm11, ymmword ptr [rsi + r13*4 + 4]
	vcvttps2dq ymm13, ymm11
	vcmpps ymm14, ymm11, ymm1, 13
	vcmpps ymm11, ymm11, ymm11, 3
	vblendvps ymm13, ymm13, ymm2, ymm14
	vblendvps ymm13, ymm13, ymm3, ymm11
	vpmaxud ymm11, ymm13, ymm6
	vpcmpeqd ymm11, ymm11, ymm13
	vptest ymm11, ymm11
	jne .L10
	vmovq r13, xmm13
	movsxd r14, r13d
	sar r13, 32
	vmovss xmm11, dword ptr [rbx + r14*4]
	vinsertps xmm11, xmm11, dword ptr [rbx + r13*4], 16
	vpextrq r14, xmm13, 1
	movsxd r13, r14d
	sar r14, 32
	vinsertps xmm11, xmm11, dword ptr [rbx + r13*4], 32
	vinsertps xmm11, xmm11, dword ptr [rbx + r14*4], 48
	vextracti128 xmm13, ymm13, 1
	vmovq r13, xmm13
	movsxd r14, r13d
	sar r13, 32
	vmovss xmm14, dword ptr [rbx + r14*4]
	vinsertps xmm14, xmm14, dword ptr [rbx + r13*4], 16
	vpextrq r14, xmm13, 1
	movsxd r13, r14d
	sar r14, 32
	vinsertps xmm14, xmm14, dword ptr [rbx + r13*4], 32
	vinsertps xmm14, xmm14, dword ptr [rbx + r14*4], 48
	vinserti128 ymm14, ymm11, xmm14, 1
	vpmulld ymm10, ymm10, ymm4
	vmovq r13, xmm10
	movsxd r14, r13d
	sar r13, 32
	vmovss xmm11, dword ptr [rbx + r14*4]
	vinsertps xmm11, xmm11, dword ptr [rbx + r13*4], 16
	vpextrq r14, xmm10, 1
	movsxd r13, r14d
	sar r14, 32
	vinsertps xmm11, xmm11, dword ptr [rbx + r13*4], 32
	vinsertps xmm11, xmm11, dword ptr [rbx + r14*4], 48
	vextracti128 xmm10, ymm10, 1
	vmovq r13, xmm10
	movsxd r14, r13d
	sar r13, 32
	vmovss xmm13, dword ptr [rbx + r14*4]
	vinsertps xmm13, xmm13, dword ptr [rbx + r13*4], 16
	vpextrq r14, xmm10, 1
	movsxd r13, r14d
	sar r14, 32
	vinsertps xmm13, xmm13, dword ptr [rbx + r13*4], 32
	vinsertps xmm13, xmm13, dword ptr [rbx + r14*4], 48
	vinserti128 ymm13, ymm11, xmm13, 1
	vaddps ymm13, ymm14, ymm13
	vcmpps ymm14, ymm13, ymm13, 3
	vblendvps ymm13, ymm13, ymm5, ymm14
	vpmaxud ymm14, ymm12, ymm7
	vpcmpeqd ymm14, ymm14, ymm12
	vptest ymm14, ymm14
	jne .L11
	vmovups ymmword ptr [r15 + 96], ymm13
	vmovups ymmword ptr [r15 + 64], ymm12
	mov r13d, 255
.L3:
	tzcnt r14d, r13d
	mov ecx, dword ptr [r15 + r14*4 + 64]
	lea rcx, [r9 + rcx*4]
	mov r14d, dword ptr [r15 + r14*4 + 96]
	mov dword ptr [rcx], r14d
	blsr r13d, r13d
	jne .L3
.L4:
	add r10, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L14
	lea r14, [r10 + 8]
	cmp r14, r12
	jle .L2
.L5:
	cmp r10, r12
	jge .L9
	mov r14, r12
	sub r14, r10
	vmovd xmm14, r14d
	vpbroadcastd ymm14, xmm14
	vpcmpgtd ymm14, ymm14, ymm0
	vmovd xmm13, r10d
	vpbroadcastd ymm13, xmm13
	vpaddd ymm13, ymm13, ymm0
	# y[g.x]
	movsxd r14, r10d
	vmaskmovps ymm12, ymm14, ymmword ptr [rsi + r14*4]
	vcvttps2dq ymm11, ymm12
	vcmpps ymm10, ymm12, ymm1, 13
	vcmpps ymm12, ymm12, ymm12, 3
	vblendvps ymm11, ymm11, ymm2, ymm10
	vblendvps ymm11, ymm11, ymm3, ymm12
	vmaskmovps ymm12, ymm14, ymmword ptr [rsi + r14*4 + 4]
	vcvttps2dq ymm10, ymm12
	vcmpps ymm15, ymm12, ymm1, 13
	vcmpps ymm12, ymm12, ymm12, 3
	vblendvps ymm10, ymm10, ymm2, ymm15
	vblendvps ymm10, ymm10, ymm3, ymm12
	vpmaxud ymm12, ymm10, ymm8
	vpcmpeqd ymm12, ymm12, ymm10
	vpand ymm12, ymm12, ymm14
	vptest ymm12, ymm12
	jne .L12
	vpxor ymm12, ymm12, ymm12
	vmovdqa ymm15, ymm14
	vpgatherdd ymm12, [rbx + ymm10*4], ymm15
	vpmulld ymm15, ymm13, ymm4
	vpxor ymm10, ymm10, ymm10
	vmovdqa ymm13, ymm14
	vpgatherdd ymm10, [rbx + ymm15*4], ymm13
	vaddps ymm13, ymm12, ymm10
	vcmpps ymm10, ymm13, ymm13, 3
	vblendvps ymm13, ymm13, ymm5, ymm10
	vpmaxud ymm10, ymm11, ymm9
	vpcmpeqd ymm10, ymm10, ymm11
	vpand ymm10, ymm10, ymm14
	vptest ymm10, ymm10
	jne .L13
	vmovups ymmword ptr [r15 + 96], ymm13
	vmovups ymmword ptr [r15 + 64], ymm11
	vmovmskps r14d, ymm14
	test r14d, r14d
	je .L7
.L6:
	tzcnt ecx, r14d
	mov r13d, dword ptr [r15 + rcx*4 + 64]
	lea r13, [rdi + r13*4]
	mov ecx, dword ptr [r15 + rcx*4 + 96]
	mov dword ptr [r13], ecx
	blsr r14d, r14d
	jne .L6
.L7:
.L8:
	add r10, 8
.L9:
	mov ecx, dword ptr [rbp + 32]
	sub r12, rcx
	add r12, 7
	shr r12, 3
	sub qword ptr [rbp + 48], r12
	jle .L15
	mov dword ptr [rbp + 32], 0
	mov ecx, dword ptr [rbp + 36]
	add ecx, 1
	mov dword ptr [rbp + 36], ecx
	cmp ecx, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L10:
	mov eax, 0
	call .L16
	jmp .L4
.L11:
	mov eax, 1
	call .L16
	jmp .L4
.L12:
	mov eax, 2
	call .L16
	jmp .L8
.L13:
	mov eax, 3
	call .L16
	jmp .L8
.L14:
.L15:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
.L16:
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
.L17:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L18:
	.byte 0x00,0x00,0x00,0x4f # 8 times
	.balign 32, 0
.L19:
	.byte 0xff,0xff,0xff,0x7f # 8 times
	.balign 32, 0
.L20:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x01,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L21:
	.byte 0x03,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L22:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
