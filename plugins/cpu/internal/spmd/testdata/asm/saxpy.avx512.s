	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L9]
	vpbroadcastd zmm1, dword ptr [rip + .L10]
	vpbroadcastd zmm2, dword ptr [rip + .L11]
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
	jg .L4
.L2:
	# x[g.x]
	vmovups zmm3, zmmword ptr [rbx + r8*4]
	vfmadd213ps zmm3, zmm1, zmmword ptr [rsi + r8*4]
	vrangeps zmm3, zmm2, zmm3, 4
	vmovups zmmword ptr [rsi + r8*4], zmm3
	test r8d, 240
	je .L6
.L3:
	add r8, 16
	cmp r8, r10
	jle .L2
.L4:
	cmp r8, r9
	jge .L5
	mov r10, r9
	sub r10, r8
	vpbroadcastd zmm3, r10d
	vpcmpd k1, zmm3, zmm0, 6
	# x[g.x]
	vmovups zmm3{k1}{z}, zmmword ptr [rbx + r8*4]
	vmovups zmm4{k1}{z}, zmmword ptr [rsi + r8*4]
	vfmadd213ps zmm3, zmm1, zmm4
	vrangeps zmm4, zmm2, zmm3, 4
	vmovups zmmword ptr [rsi + r8*4]{k1}, zmm4
	add r8, 16
.L5:
	mov r10d, dword ptr [rbp + 32]
	sub r9, r10
	add r9, 15
	shr r9, 4
	sub qword ptr [rbp + 48], r9
	jle .L8
	mov dword ptr [rbp + 32], 0
	mov r10d, dword ptr [rbp + 36]
	add r10d, 1
	mov dword ptr [rbp + 36], r10d
	cmp r10d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L6:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L7
	jmp .L3
.L7:
.L8:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
.L9:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L10:
	.byte 0x00,0x00,0x00,0x3f
	.balign 4, 0
.L11:
	.byte 0x00,0x00,0xc0,0x7f
