	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L15]
	vpbroadcastd zmm1, dword ptr [rip + .L16]
	vpbroadcastd zmm2, dword ptr [rip + .L17]
	vpbroadcastd zmm3, dword ptr [rip + .L18]
	vpbroadcastd zmm4, dword ptr [rip + .L19]
	vpbroadcastd zmm5, dword ptr [rip + .L20]
	vpbroadcastd zmm6, dword ptr [rip + .L21]
	mov rbx, qword ptr [rbp + 3104]
	mov rsi, qword ptr [rbp + 3144]
	mov rdi, qword ptr [rbp + 3184]
	mov r8, qword ptr [rbp + 3224]
	mov r9d, dword ptr [rbp + 3112]
	mov r10d, dword ptr [rbp + 56]
.L1:
	mov r12d, dword ptr [rbp + 32]
	mov r13, qword ptr [rbp + 48]
	shl r13, 4
	add r13, r12
	cmp r13, r10
	cmovg r13, r10
	lea r14, [r12 + 16]
	cmp r14, r13
	jg .L6
.L2:
	# x[g.x]
	movsxd r14, r12d
	vmovups zmm7, zmmword ptr [rbx + r14*4]
	vmovups zmm8, zmmword ptr [rsi + r14*4]
	# j < x.length
	mov ecx, 0
	vmovdqa64 zmm9, zmm1
	vmovdqa64 zmm10, zmm1
.L3:
	# j < x.length
	cmp ecx, r9d
	jge .L5
	# x[j]
	movsxd rdx, ecx
	vbroadcastss zmm11, dword ptr [rbx + rdx*4]
	vsubps zmm11, zmm11, zmm7
	vbroadcastss zmm12, dword ptr [rsi + rdx*4]
	vsubps zmm12, zmm12, zmm8
	vmulps zmm13, zmm12, zmm12
	vfmadd231ps zmm13, zmm11, zmm11
	vaddps zmm13, zmm13, zmm2
	# m[j]
	vbroadcastss zmm14, dword ptr [rdi + rdx*4]
	vrsqrt14ps zmm15, zmm13
	vpsubd zmm16, zmm13, zmm4
	vpcmpud k1, zmm16, zmm5, 5
	vmulps zmm16, zmm15, zmm13
	vmulps zmm15, zmm15, zmm3
	vmovdqa64 zmm17, zmm15
	vfnmadd213ps zmm17, zmm16, zmm3
	vfmadd213ps zmm16, zmm17, zmm16
	vfmadd213ps zmm15, zmm17, zmm15
	vmovdqa64 zmm17, zmm16
	vfnmadd213ps zmm17, zmm16, zmm13
	vfmadd231ps zmm16, zmm17, zmm15
	kortestw k1, k1
	jne .L11
.L4:
	vmulps zmm17, zmm13, zmm16
	vdivps zmm17, zmm14, zmm17
	# fx += s * dx
	vfmadd231ps zmm9, zmm11, zmm17
	vfmadd231ps zmm10, zmm17, zmm12
	# j++
	add ecx, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L3
.L5:
	# ax[g.x] = fx + fy
	vaddps zmm17, zmm9, zmm10
	vrangeps zmm17, zmm6, zmm17, 4
	vmovups zmmword ptr [r8 + r14*4], zmm17
	add r12, 16
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	lea rdx, [r12 + 16]
	cmp rdx, r13
	jle .L2
.L6:
	cmp r12, r13
	jge .L10
	mov rdx, r13
	sub rdx, r12
	vpbroadcastd zmm17, edx
	vpcmpd k1, zmm17, zmm0, 6
	# x[g.x]
	movsxd rdx, r12d
	vmovups zmm17{k1}{z}, zmmword ptr [rbx + rdx*4]
	vmovups zmm12{k1}{z}, zmmword ptr [rsi + rdx*4]
	# j < x.length
	mov ecx, 0
	vmovdqa64 zmm11, zmm1
	vmovdqa64 zmm10, zmm1
.L7:
	# j < x.length
	cmp ecx, r9d
	jge .L9
	# x[j]
	movsxd r14, ecx
	vbroadcastss zmm9, dword ptr [rbx + r14*4]
	vsubps zmm9, zmm9, zmm17
	vbroadcastss zmm8, dword ptr [rsi + r14*4]
	vsubps zmm8, zmm8, zmm12
	vmulps zmm7, zmm8, zmm8
	vfmadd231ps zmm7, zmm9, zmm9
	vaddps zmm7, zmm7, zmm2
	# m[j]
	vbroadcastss zmm14, dword ptr [rdi + r14*4]
	vrsqrt14ps zmm16, zmm7
	vpsubd zmm15, zmm7, zmm4
	vpcmpud k2{k1}, zmm15, zmm5, 5
	vmulps zmm15, zmm16, zmm7
	vmulps zmm16, zmm16, zmm3
	vmovdqa64 zmm13, zmm16
	vfnmadd213ps zmm13, zmm15, zmm3
	vfmadd213ps zmm15, zmm13, zmm15
	vfmadd213ps zmm16, zmm13, zmm16
	vmovdqa64 zmm13, zmm15
	vfnmadd213ps zmm13, zmm15, zmm7
	vfmadd231ps zmm15, zmm13, zmm16
	kortestw k2, k2
	jne .L12
.L8:
	vmulps zmm13, zmm7, zmm15
	vdivps zmm13, zmm14, zmm13
	# fx += s * dx
	vfmadd231ps zmm11, zmm9, zmm13
	vfmadd231ps zmm10, zmm13, zmm8
	# j++
	add ecx, 1
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L7
.L9:
	# ax[g.x] = fx + fy
	vaddps zmm13, zmm11, zmm10
	vrangeps zmm13, zmm6, zmm13, 4
	vmovups zmmword ptr [r8 + rdx*4]{k1}, zmm13
	add r12, 16
.L10:
	mov r14d, dword ptr [rbp + 32]
	sub r13, r14
	add r13, 15
	shr r13, 4
	sub qword ptr [rbp + 48], r13
	jle .L14
	mov dword ptr [rbp + 32], 0
	mov r14d, dword ptr [rbp + 36]
	add r14d, 1
	mov dword ptr [rbp + 36], r14d
	cmp r14d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L11:
	vsqrtps zmm16, zmm13
	jmp .L4
.L12:
	vsqrtps zmm15, zmm7
	jmp .L8
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
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L17:
	.byte 0x0a,0xd7,0x23,0x3c
	.balign 4, 0
.L18:
	.byte 0x00,0x00,0x00,0x3f
	.balign 4, 0
.L19:
	.byte 0x00,0x00,0x00,0x10
	.balign 4, 0
.L20:
	.byte 0x00,0x00,0x80,0x6f
	.balign 4, 0
.L21:
	.byte 0x00,0x00,0xc0,0x7f
