	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L13]
	vpbroadcastd zmm1, dword ptr [rip + .L14]
	vpbroadcastd zmm2, dword ptr [rip + .L15]
	vpbroadcastd zmm3, dword ptr [rip + .L16]
	vpbroadcastd zmm4, dword ptr [rip + .L17]
	vpbroadcastd zmm5, dword ptr [rip + .L18]
	vpbroadcastd zmm6, dword ptr [rip + .L19]
	vpbroadcastd zmm7, dword ptr [rip + .L20]
	vpbroadcastd zmm8, dword ptr [rip + .L21]
	vpbroadcastd zmm9, dword ptr [rip + .L22]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov edi, dword ptr [rbp + 56]
.L1:
	mov r8d, dword ptr [rbp + 32]
	mov r9, qword ptr [rbp + 48]
	shl r9, 4
	add r9, r8
	cmp r9, rdi
	cmovg r9, rdi
	lea r10, [r9 - 16]
	cmp r8, r10
	jg .L5
.L2:
	# x[g.x]
	vmovups zmm10, zmmword ptr [rbx + r8*4]
	vrsqrt14ps zmm11, zmm10
	vpsubd zmm12, zmm10, zmm2
	vpcmpud k1, zmm12, zmm3, 5
	vmulps zmm12, zmm11, zmm10
	vmulps zmm11, zmm11, zmm1
	vmovdqa64 zmm13, zmm11
	vfnmadd213ps zmm13, zmm12, zmm1
	vfmadd213ps zmm12, zmm13, zmm12
	vfmadd213ps zmm11, zmm13, zmm11
	vmovdqa64 zmm13, zmm12
	vfnmadd213ps zmm13, zmm12, zmm10
	vfmadd231ps zmm12, zmm13, zmm11
	kortestw k1, k1
	jne .L8
.L3:
	vaddps zmm13, zmm10, zmm4
	vrsqrt14ps zmm11, zmm13
	vmulps zmm13, zmm11, zmm13
	vfnmadd213ps zmm13, zmm11, zmm5
	vpsubusw zmm10, zmm11, zmm6
	vpminud zmm13, zmm13, zmm7
	vfmadd231ps zmm11, zmm13, zmm10
	vaddps zmm10, zmm11, zmm5
	vdivps zmm10, zmm12, zmm10
	vmovdqa64 zmm12, zmm8
	vfixupimmps zmm12, zmm10, zmm9, 0
	vmovups zmmword ptr [rsi + r8*4], zmm12
	test r8d, 240
	je .L9
.L4:
	add r8, 16
	cmp r8, r10
	jle .L2
.L5:
	cmp r8, r9
	jge .L7
	mov r10, r9
	sub r10, r8
	vpbroadcastd zmm12, r10d
	vpcmpd k1, zmm12, zmm0, 6
	# x[g.x]
	vmovups zmm12{k1}{z}, zmmword ptr [rbx + r8*4]
	vrsqrt14ps zmm10, zmm12
	vpsubd zmm13, zmm12, zmm2
	vpcmpud k2{k1}, zmm13, zmm3, 5
	vmulps zmm13, zmm10, zmm12
	vmulps zmm10, zmm10, zmm1
	vmovdqa64 zmm11, zmm10
	vfnmadd213ps zmm11, zmm13, zmm1
	vfmadd213ps zmm13, zmm11, zmm13
	vfmadd213ps zmm10, zmm11, zmm10
	vmovdqa64 zmm11, zmm13
	vfnmadd213ps zmm11, zmm13, zmm12
	vfmadd231ps zmm13, zmm11, zmm10
	kortestw k2, k2
	jne .L10
.L6:
	vaddps zmm11, zmm12, zmm4
	vrsqrt14ps zmm10, zmm11
	vmulps zmm11, zmm10, zmm11
	vfnmadd213ps zmm11, zmm10, zmm5
	vpsubusw zmm12, zmm10, zmm6
	vpminud zmm11, zmm11, zmm7
	vfmadd231ps zmm10, zmm11, zmm12
	vaddps zmm12, zmm10, zmm5
	vdivps zmm12, zmm13, zmm12
	vmovdqa64 zmm13, zmm8
	vfixupimmps zmm13, zmm12, zmm9, 0
	vmovups zmmword ptr [rsi + r8*4]{k1}, zmm13
	add r8, 16
.L7:
	mov r10d, dword ptr [rbp + 32]
	sub r9, r10
	add r9, 15
	shr r9, 4
	sub qword ptr [rbp + 48], r9
	jle .L12
	mov dword ptr [rbp + 32], 0
	mov r10d, dword ptr [rbp + 36]
	add r10d, 1
	mov dword ptr [rbp + 36], r10d
	cmp r10d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L8:
	vsqrtps zmm12, zmm10
	jmp .L3
.L9:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L11
	jmp .L4
.L10:
	vsqrtps zmm13, zmm12
	jmp .L6
.L11:
.L12:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
.L13:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L14:
	.byte 0x00,0x00,0x00,0x3f
	.balign 4, 0
.L15:
	.byte 0x00,0x00,0x00,0x10
	.balign 4, 0
.L16:
	.byte 0x00,0x00,0x80,0x6f
	.balign 4, 0
.L17:
	.byte 0x00,0x00,0x00,0x40
	.balign 4, 0
.L18:
	.byte 0x00,0x00,0x80,0x3f
	.balign 4, 0
.L19:
	.byte 0x00,0x00,0x80,0x00
	.balign 4, 0
.L20:
	.byte 0x00,0x00,0x80,0xbb
	.balign 4, 0
.L21:
	.byte 0x00,0x00,0xc0,0x7f
	.balign 4, 0
.L22:
	.byte 0x00,0x11,0x11,0x11
