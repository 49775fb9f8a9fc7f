	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vpbroadcastd zmm0, dword ptr [rip + .L16]
	vpbroadcastd zmm1, dword ptr [rip + .L17]
	vmovups zmm2, zmmword ptr [rip + .L15]
	vpbroadcastd zmm3, dword ptr [rip + .L18]
	vpbroadcastd zmm4, dword ptr [rip + .L19]
	vpbroadcastd zmm5, dword ptr [rip + .L20]
	vpbroadcastd zmm6, dword ptr [rip + .L21]
	vpbroadcastd zmm7, dword ptr [rip + .L22]
	mov rbx, qword ptr [rbp + 3080]
	mov rsi, qword ptr [rbp + 3096]
	mov edi, dword ptr [rbp + 56]
.L1:
	mov r8d, dword ptr [rbp + 36]
	imul r9d, r8d, 3
	vpbroadcastd zmm8, r9d
	vcvtdq2ps zmm8, zmm8
	vmulps zmm8, zmm8, zmm0
	vaddps zmm8, zmm8, zmm1
	mov r9d, dword ptr [rbp + 32]
	mov r10, qword ptr [rbp + 48]
	shl r10, 4
	add r10, r9
	cmp r10, rdi
	cmovg r10, rdi
	lea r12, [r9 + 16]
	cmp r12, r10
	jg .L5
	movsxd r12, r8d
	imul r12, rsi
	lea r12, [rbx + r12*4]
.L2:
	vpbroadcastd zmm9, r9d
	vpaddd zmm9, zmm9, zmm2
	# cx = -2 + 3 * g.x / 1024
	vpmulld zmm9, zmm9, zmm3
	vcvtdq2ps zmm9, zmm9
	vmulps zmm9, zmm9, zmm0
	vaddps zmm9, zmm9, zmm4
	# n < 256 && x * x + y * y < 4
	mov r13d, 0
	vmovdqa64 zmm11, zmm5
	vmovdqa64 zmm12, zmm5
	kxnorw k1, k1, k1
	vmovdqa64 zmm10, zmm5
.L3:
	# n < 256 && x * x + y * y < 4
	vmulps zmm13, zmm11, zmm11
	vmovdqa64 zmm14, zmm12
	vfmadd213ps zmm14, zmm12, zmm13
	cmp r13d, 256
	jge .L9
	vcmpps k1{k1}, zmm14, zmm7, 1
	vfmsub231ps zmm13, zmm12, zmm12
	vaddps zmm14, zmm12, zmm12
	vaddps zmm12, zmm13, zmm9
	vfmadd213ps zmm11, zmm14, zmm8
	add r13d, 1
	vpaddd zmm10{k1}, zmm10, zmm6
	# n < 256 && x * x + y * y < 4
	vmulps zmm14, zmm11, zmm11
	vmovdqa64 zmm13, zmm12
	vfmadd213ps zmm13, zmm12, zmm14
	cmp r13d, 256
	jge .L10
	vcmpps k1{k1}, zmm13, zmm7, 1
	kortestw k1, k1
	je .L4
	vfmsub231ps zmm14, zmm12, zmm12
	vaddps zmm13, zmm12, zmm12
	vaddps zmm12, zmm14, zmm9
	vfmadd213ps zmm11, zmm13, zmm8
	add r13d, 1
	vpaddd zmm10{k1}, zmm10, zmm6
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L3
.L4:
	# it[g.y][g.x] = n
	vcvtdq2ps zmm13, zmm10
	movsxd r13, r9d
	vmovups zmmword ptr [r12 + r13*4], zmm13
	add r9, 16
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	lea r13, [r9 + 16]
	cmp r13, r10
	jle .L2
.L5:
	movsxd r13, r8d
	imul r13, rsi
	lea r13, [rbx + r13*4]
	cmp r9, r10
	jge .L8
	mov r12, r10
	sub r12, r9
	vpbroadcastd zmm13, r12d
	vpcmpd k1, zmm13, zmm2, 6
	vpbroadcastd zmm13, r9d
	vpaddd zmm13, zmm13, zmm2
	# cx = -2 + 3 * g.x / 1024
	vpmulld zmm13, zmm13, zmm3
	vcvtdq2ps zmm13, zmm13
	vmulps zmm13, zmm13, zmm0
	vaddps zmm13, zmm13, zmm4
	# n < 256 && x * x + y * y < 4
	mov r12d, 0
	vmovdqa64 zmm12, zmm5
	vmovdqa64 zmm11, zmm5
	kmovw k2, k1
	vmovdqa64 zmm14, zmm5
.L6:
	# n < 256 && x * x + y * y < 4
	vmulps zmm10, zmm12, zmm12
	vmovdqa64 zmm9, zmm11
	vfmadd213ps zmm9, zmm11, zmm10
	cmp r12d, 256
	jge .L11
	vcmpps k2{k2}, zmm9, zmm7, 1
	vfmsub231ps zmm10, zmm11, zmm11
	vaddps zmm9, zmm11, zmm11
	vaddps zmm11, zmm10, zmm13
	vfmadd213ps zmm12, zmm9, zmm8
	add r12d, 1
	vpaddd zmm14{k2}, zmm14, zmm6
	# n < 256 && x * x + y * y < 4
	vmulps zmm9, zmm12, zmm12
	vmovdqa64 zmm10, zmm11
	vfmadd213ps zmm10, zmm11, zmm9
	cmp r12d, 256
	jge .L12
	vcmpps k2{k2}, zmm10, zmm7, 1
	kortestw k2, k2
	je .L7
	vfmsub231ps zmm9, zmm11, zmm11
	vaddps zmm10, zmm11, zmm11
	vaddps zmm11, zmm9, zmm13
	vfmadd213ps zmm12, zmm10, zmm8
	add r12d, 1
	vpaddd zmm14{k2}, zmm14, zmm6
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L6
.L7:
	# it[g.y][g.x] = n
	vcvtdq2ps zmm10, zmm14
	movsxd r12, r9d
	vmovups zmmword ptr [r13 + r12*4]{k1}, zmm10
	add r9, 16
.L8:
	mov r12d, dword ptr [rbp + 32]
	sub r10, r12
	add r10, 15
	shr r10, 4
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
.L9:
	kxorw k1, k1, k1
	jmp .L4
.L10:
	kxorw k1, k1, k1
	jmp .L4
.L11:
	kxorw k2, k2, k2
	jmp .L7
.L12:
	kxorw k2, k2, k2
	jmp .L7
.L13:
.L14:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
.L15:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L16:
	.byte 0x00,0x00,0x80,0x3a
	.balign 4, 0
.L17:
	.byte 0x00,0x00,0xc0,0xbf
	.balign 4, 0
.L18:
	.byte 0x03,0x00,0x00,0x00
	.balign 4, 0
.L19:
	.byte 0x00,0x00,0x00,0xc0
	.balign 4, 0
.L20:
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L21:
	.byte 0x01,0x00,0x00,0x00
	.balign 4, 0
.L22:
	.byte 0x00,0x00,0x80,0x40
	.balign 4, 0
	.byte 0x00,0x00,0x00,0x80
	.balign 4, 0
	.byte 0x00,0x00,0x00,0x40
