	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L13]
	vpbroadcastd zmm1, dword ptr [rip + .L14]
	vpbroadcastd zmm2, dword ptr [rip + .L15]
	vpbroadcastd zmm3, dword ptr [rip + .L16]
	mov rbx, qword ptr [rbp + 3088]
	mov rcx, qword ptr [rbp + 3128]
	mov qword ptr [rbp + 3200], rcx
	mov rdi, qword ptr [rbp + 3104]
	mov rcx, qword ptr [rbp + 3144]
	mov qword ptr [rbp + 3208], rcx
	mov ecx, dword ptr [rbp + 56]
	mov qword ptr [rbp + 3216], rcx
.L1:
	mov r10d, dword ptr [rbp + 36]
	mov r12d, dword ptr [rbp + 32]
	mov r13, qword ptr [rbp + 48]
	shl r13, 4
	add r13, r12
	mov rcx, qword ptr [rbp + 3216]
	cmp r13, rcx
	mov rcx, qword ptr [rbp + 3216]
	cmovg r13, rcx
	mov r14, r13
	mov edx, 1023
	movsxd rdx, edx
	cmp r14, rdx
	cmovg r14, rdx
	lea rdx, [r14 - 16]
	cmp r12, rdx
	jg .L5
	movsxd r11, r10d
	mov rsi, r11
	imul rsi, rdi
	lea rsi, [rbx + rsi*4]
	mov r8, r10
	sub r8d, 1
	movsxd r8, r8d
	imul r8, rdi
	lea r8, [rbx + r8*4]
	mov r9, r10
	add r9d, 1
	movsxd r9, r9d
	imul r9, rdi
	lea r9, [rbx + r9*4]
	mov rcx, qword ptr [rbp + 3208]
	imul r11, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r11, [rcx + r11*4]
.L2:
	vpbroadcastd zmm4, r12d
	vpaddd zmm4, zmm4, zmm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L8
	cmp r10d, 1023
	jge .L8
	vpcmpd k1, zmm4, zmm1, 6
	kortestw k1, k1
	je .L3
	# x[j][i]
	vmovups zmm4{k1}{z}, zmmword ptr [rsi + r12*4]
	vmovups zmm5{k1}{z}, zmmword ptr [rsi + r12*4 - 4]
	vaddps zmm5, zmm4, zmm5
	vmovups zmm4{k1}{z}, zmmword ptr [rsi + r12*4 + 4]
	vaddps zmm4, zmm5, zmm4
	vmovups zmm5{k1}{z}, zmmword ptr [r8 + r12*4]
	vaddps zmm5, zmm4, zmm5
	vmovups zmm4{k1}{z}, zmmword ptr [r9 + r12*4]
	vaddps zmm4, zmm5, zmm4
	vmulps zmm4, zmm4, zmm2
	vrangeps zmm4, zmm3, zmm4, 4
	vmovups zmmword ptr [r11 + r12*4]{k1}, zmm4
.L3:
	test r12d, 240
	je .L9
.L4:
	add r12, 16
	cmp r12, rdx
	jle .L2
.L5:
	movsxd r11, r10d
	mov r9, r11
	imul r9, rdi
	lea r9, [rbx + r9*4]
	mov r8, r10
	sub r8d, 1
	movsxd r8, r8d
	imul r8, rdi
	lea r8, [rbx + r8*4]
	mov rsi, r10
	add esi, 1
	movsxd rsi, esi
	imul rsi, rdi
	lea rsi, [rbx + rsi*4]
	mov rcx, qword ptr [rbp + 3208]
	imul r11, rcx
	mov rcx, qword ptr [rbp + 3200]
	lea r11, [rcx + r11*4]
	cmp r12, r14
	jge .L7
	mov rdx, r14
	sub rdx, r12
	vpbroadcastd zmm4, edx
	vpcmpd k1, zmm4, zmm0, 6
	vpbroadcastd zmm4, r12d
	vpaddd zmm4, zmm4, zmm0
	# i > 0 && j > 0 && i < 1023 && j < 1023
	cmp r10d, 0
	jle .L10
	cmp r10d, 1023
	jge .L10
	vpcmpd k2{k1}, zmm4, zmm1, 6
	kortestw k2, k2
	je .L6
	# x[j][i]
	vmovups zmm4{k2}{z}, zmmword ptr [r9 + r12*4]
	vmovups zmm5{k2}{z}, zmmword ptr [r9 + r12*4 - 4]
	vaddps zmm5, zmm4, zmm5
	vmovups zmm4{k2}{z}, zmmword ptr [r9 + r12*4 + 4]
	vaddps zmm4, zmm5, zmm4
	vmovups zmm5{k2}{z}, zmmword ptr [r8 + r12*4]
	vaddps zmm5, zmm4, zmm5
	vmovups zmm4{k2}{z}, zmmword ptr [rsi + r12*4]
	vaddps zmm4, zmm5, zmm4
	vmulps zmm4, zmm4, zmm2
	vrangeps zmm4, zmm3, zmm4, 4
	vmovups zmmword ptr [r11 + r12*4]{k2}, zmm4
.L6:
	add r12, 16
.L7:
	mov edx, dword ptr [rbp + 32]
	sub r13, rdx
	add r13, 15
	shr r13, 4
	sub qword ptr [rbp + 48], r13
	jle .L12
	mov dword ptr [rbp + 32], 0
	mov edx, dword ptr [rbp + 36]
	add edx, 1
	mov dword ptr [rbp + 36], edx
	cmp edx, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L8:
	kxorw k1, k1, k1
	jmp .L3
.L9:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L11
	jmp .L4
.L10:
	kxorw k2, k2, k2
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
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
	.byte 0x01,0x00,0x00,0x00
	.balign 4, 0
.L15:
	.byte 0xcd,0xcc,0x4c,0x3e
	.balign 4, 0
.L16:
	.byte 0x00,0x00,0xc0,0x7f
