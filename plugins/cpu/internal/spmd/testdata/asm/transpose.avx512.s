	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L18]
	vpbroadcastd zmm1, dword ptr [rip + .L19]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov rdi, qword ptr [rbp + 3104]
	mov r8, qword ptr [rbp + 3144]
	mov r9d, dword ptr [rbp + 56]
	vpbroadcastd zmm2, r8d
	vpbroadcastd zmm3, r8d
.L1:
	mov r8d, dword ptr [rbp + 32]
	cmp dword ptr [rbp + 164], 0
	jg .L3
	mov dword ptr [rbp + 164], -1
	cmp qword ptr [rbp + 48], 16
	jl .L2
	lea r8, [r8 + 16]
	cmp r8d, dword ptr [rbp + 56]
	ja .L2
	mov r8d, dword ptr [rbp + 160]
	add r8d, 16
	cmp r8d, dword ptr [rbp + 60]
	cmova r8d, dword ptr [rbp + 60]
	mov r10d, dword ptr [rbp + 36]
	add r10d, 16
	cmp r10d, r8d
	ja .L2
	mov dword ptr [rbp + 164], 0
.L2:
.L3:
	mov r10d, dword ptr [rbp + 36]
	mov r8d, dword ptr [rbp + 32]
	lea r12, [r8 + 16]
	cmp r12, r9
	cmovg r12, r9
	lea r13, [r12 - 16]
	cmp r8, r13
	jg .L7
	movsxd r14, r10d
	mov rcx, r14
	imul rcx, rdi
	lea rcx, [rbx + rcx*4]
	lea rdx, [rsi + r14*4]
	lea r14, [rsi + r14*4]
.L4:
	vpbroadcastd zmm4, r8d
	vpaddd zmm4, zmm4, zmm0
	# x[g.y][g.x]
	prefetcht0 [rcx + r8*4 + 64]
	vmovups zmm5, zmmword ptr [rcx + r8*4]
	vpmulld zmm6, zmm2, zmm1
	vpmulld zmm6, zmm4, zmm6
	mov r11d, dword ptr [rbp + 164]
	test r11d, r11d
	js .L14
	vmovups zmmword ptr [r15 + r11*1 + 832], zmm5
	cmp r11d, 960
	jne .L5
	vmovups zmmword ptr [r15 + 64], zmm6
	vmovups zmm4, zmmword ptr [r15 + 832]
	vmovups zmm7, zmmword ptr [r15 + 896]
	vmovups zmm8, zmmword ptr [r15 + 960]
	vmovups zmm9, zmmword ptr [r15 + 1024]
	vunpcklps zmm10, zmm4, zmm7
	vunpckhps zmm7, zmm4, zmm7
	vunpcklps zmm4, zmm8, zmm9
	vunpckhps zmm9, zmm8, zmm9
	vunpcklpd zmm8, zmm10, zmm4
	vunpckhpd zmm4, zmm10, zmm4
	vunpcklpd zmm10, zmm7, zmm9
	vunpckhpd zmm9, zmm7, zmm9
	vmovups zmm7, zmmword ptr [r15 + 1088]
	vmovups zmm11, zmmword ptr [r15 + 1152]
	vmovups zmm12, zmmword ptr [r15 + 1216]
	vmovups zmm13, zmmword ptr [r15 + 1280]
	vunpcklps zmm14, zmm7, zmm11
	vunpckhps zmm11, zmm7, zmm11
	vunpcklps zmm7, zmm12, zmm13
	vunpckhps zmm13, zmm12, zmm13
	vunpcklpd zmm12, zmm14, zmm7
	vunpckhpd zmm7, zmm14, zmm7
	vunpcklpd zmm14, zmm11, zmm13
	vunpckhpd zmm13, zmm11, zmm13
	vmovups zmm11, zmmword ptr [r15 + 1344]
	vmovups zmm15, zmmword ptr [r15 + 1408]
	vmovups zmm16, zmmword ptr [r15 + 1472]
	vmovups zmm17, zmmword ptr [r15 + 1536]
	vunpcklps zmm18, zmm11, zmm15
	vunpckhps zmm15, zmm11, zmm15
	vunpcklps zmm11, zmm16, zmm17
	vunpckhps zmm17, zmm16, zmm17
	vunpcklpd zmm16, zmm18, zmm11
	vunpckhpd zmm11, zmm18, zmm11
	vunpcklpd zmm18, zmm15, zmm17
	vunpckhpd zmm17, zmm15, zmm17
	vmovups zmm15, zmmword ptr [r15 + 1600]
	vmovups zmm19, zmmword ptr [r15 + 1664]
	vmovups zmm20, zmmword ptr [r15 + 1728]
	vmovups zmm21, zmmword ptr [r15 + 1792]
	vunpcklps zmm22, zmm15, zmm19
	vunpckhps zmm19, zmm15, zmm19
	vunpcklps zmm15, zmm20, zmm21
	vunpckhps zmm21, zmm20, zmm21
	vunpcklpd zmm20, zmm22, zmm15
	vunpckhpd zmm15, zmm22, zmm15
	vunpcklpd zmm22, zmm19, zmm21
	vunpckhpd zmm21, zmm19, zmm21
	vshuff32x4 zmm19, zmm8, zmm12, 136
	vshuff32x4 zmm23, zmm16, zmm20, 136
	vshuff32x4 zmm12, zmm8, zmm12, 221
	vshuff32x4 zmm20, zmm16, zmm20, 221
	vshuff32x4 zmm16, zmm19, zmm23, 136
	movsxd r11, dword ptr [r15 + 64]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm16
	vshuff32x4 zmm16, zmm12, zmm20, 136
	movsxd r11, dword ptr [r15 + 80]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm16
	vshuff32x4 zmm16, zmm19, zmm23, 221
	movsxd r11, dword ptr [r15 + 96]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm16
	vshuff32x4 zmm16, zmm12, zmm20, 221
	movsxd r11, dword ptr [r15 + 112]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm16
	vshuff32x4 zmm16, zmm4, zmm7, 136
	vshuff32x4 zmm20, zmm11, zmm15, 136
	vshuff32x4 zmm7, zmm4, zmm7, 221
	vshuff32x4 zmm15, zmm11, zmm15, 221
	vshuff32x4 zmm11, zmm16, zmm20, 136
	movsxd r11, dword ptr [r15 + 68]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm11
	vshuff32x4 zmm11, zmm7, zmm15, 136
	movsxd r11, dword ptr [r15 + 84]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm11
	vshuff32x4 zmm11, zmm16, zmm20, 221
	movsxd r11, dword ptr [r15 + 100]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm11
	vshuff32x4 zmm11, zmm7, zmm15, 221
	movsxd r11, dword ptr [r15 + 116]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm11
	vshuff32x4 zmm11, zmm10, zmm14, 136
	vshuff32x4 zmm15, zmm18, zmm22, 136
	vshuff32x4 zmm14, zmm10, zmm14, 221
	vshuff32x4 zmm22, zmm18, zmm22, 221
	vshuff32x4 zmm18, zmm11, zmm15, 136
	movsxd r11, dword ptr [r15 + 72]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm18
	vshuff32x4 zmm18, zmm14, zmm22, 136
	movsxd r11, dword ptr [r15 + 88]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm18
	vshuff32x4 zmm18, zmm11, zmm15, 221
	movsxd r11, dword ptr [r15 + 104]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm18
	vshuff32x4 zmm18, zmm14, zmm22, 221
	movsxd r11, dword ptr [r15 + 120]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm18
	vshuff32x4 zmm18, zmm9, zmm13, 136
	vshuff32x4 zmm22, zmm17, zmm21, 136
	vshuff32x4 zmm13, zmm9, zmm13, 221
	vshuff32x4 zmm21, zmm17, zmm21, 221
	vshuff32x4 zmm17, zmm18, zmm22, 136
	movsxd r11, dword ptr [r15 + 76]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm17
	vshuff32x4 zmm17, zmm13, zmm21, 136
	movsxd r11, dword ptr [r15 + 92]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm17
	vshuff32x4 zmm17, zmm18, zmm22, 221
	movsxd r11, dword ptr [r15 + 108]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm17
	vshuff32x4 zmm17, zmm13, zmm21, 221
	movsxd r11, dword ptr [r15 + 124]
	vmovups zmmword ptr [rdx + r11*1 - 60], zmm17
.L5:
	test r8d, 240
	je .L15
.L6:
	add r8, 16
	cmp r8, r13
	jle .L4
.L7:
	movsxd r11, r10d
	mov r14, r11
	imul r14, rdi
	lea r14, [rbx + r14*4]
	lea r11, [rsi + r11*4]
	cmp r8, r12
	jge .L8
	mov rdx, r12
	sub rdx, r8
	vpbroadcastd zmm17, edx
	vpcmpd k1, zmm17, zmm0, 6
	vpbroadcastd zmm17, r8d
	vpaddd zmm17, zmm17, zmm0
	# x[g.y][g.x]
	prefetcht0 [r14 + r8*4 + 64]
	vmovups zmm6{k1}{z}, zmmword ptr [r14 + r8*4]
	vpmulld zmm5, zmm3, zmm1
	vpmulld zmm5, zmm17, zmm5
	vpscatterdd [r11 + zmm5*1]{k1}, zmm6
	add r8, 16
.L8:
	mov edx, dword ptr [rbp + 164]
	test edx, edx
	js .L10
	add edx, 64
	cmp edx, 1024
	jne .L9
	mov edx, 0
.L9:
	mov dword ptr [rbp + 164], edx
.L10:
	sub qword ptr [rbp + 48], 1
	jle .L17
	mov edx, dword ptr [rbp + 160]
	add edx, 16
	cmp edx, dword ptr [rbp + 60]
	cmova edx, dword ptr [rbp + 60]
	mov r11d, dword ptr [rbp + 36]
	add r11d, 1
	cmp r11d, edx
	jae .L11
	mov dword ptr [rbp + 36], r11d
	jmp .L1
.L11:
	mov r11d, dword ptr [rbp + 160]
	mov dword ptr [rbp + 36], r11d
	mov r11d, dword ptr [rbp + 32]
	add r11d, 16
	cmp r11d, dword ptr [rbp + 56]
	jae .L12
	mov dword ptr [rbp + 32], r11d
	jmp .L1
.L12:
	mov dword ptr [rbp + 32], 0
	cmp edx, dword ptr [rbp + 60]
	jb .L13
	mov edx, 0
	add dword ptr [rbp + 40], 1
.L13:
	mov dword ptr [rbp + 160], edx
	mov dword ptr [rbp + 36], edx
	jmp .L1
.L14:
	kxnorw k1, k1, k1
	vpscatterdd [r14 + zmm6*1]{k1}, zmm5
	jmp .L5
.L15:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L16
	jmp .L6
.L16:
.L17:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
.L18:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L19:
	.byte 0x04,0x00,0x00,0x00
