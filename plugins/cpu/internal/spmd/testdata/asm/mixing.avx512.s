	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L11]
	vpbroadcastd zmm1, dword ptr [rip + .L12]
	vpbroadcastd zmm2, dword ptr [rip + .L13]
	vpbroadcastd zmm3, dword ptr [rip + .L14]
	mov rbx, qword ptr [rbp + 3080]
	mov esi, dword ptr [rbp + 56]
.L1:
	mov edi, dword ptr [rbp + 32]
	mov r8, qword ptr [rbp + 48]
	shl r8, 4
	add r8, rdi
	cmp r8, rsi
	cmovg r8, rsi
	lea r9, [rdi + 16]
	cmp r9, r8
	jg .L5
.L2:
	# x[g.x]
	movsxd r9, edi
	vmovups zmm4, zmmword ptr [rbx + r9*4]
	vcmpps k1, zmm4, zmm4, 7
	vcmpps k2, zmm4, zmm1, 13
	vcvttps2dq zmm4{k1}{z}, zmm4
	vpblendmd zmm4{k2}, zmm4, zmm2
	vpxord zmm5, zmm4, zmm3
	# r < 64
	mov r10d, 0
.L3:
	# r < 64
	cmp r10d, 64
	jge .L4
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	vpaddd zmm4, zmm4, zmm5
	vpxord zmm5, zmm5, zmm4
	vprold zmm5, zmm5, 16
	add r10d, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L3
.L4:
	# x[g.x] = a ^ b
	vpxord zmm5, zmm4, zmm5
	vcvtdq2ps zmm5, zmm5
	vmovups zmmword ptr [rbx + r9*4], zmm5
	add rdi, 16
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	lea r10, [rdi + 16]
	cmp r10, r8
	jle .L2
.L5:
	cmp rdi, r8
	jge .L8
	mov r10, r8
	sub r10, rdi
	vpbroadcastd zmm5, r10d
	vpcmpd k2, zmm5, zmm0, 6
	# x[g.x]
	movsxd r10, edi
	vmovups zmm5{k2}{z}, zmmword ptr [rbx + r10*4]
	vcmpps k1, zmm5, zmm5, 7
	vcmpps k3, zmm5, zmm1, 13
	vcvttps2dq zmm5{k1}{z}, zmm5
	vpblendmd zmm5{k3}, zmm5, zmm2
	vpxord zmm4, zmm5, zmm3
	# r < 64
	mov r9d, 0
.L6:
	# r < 64
	cmp r9d, 64
	jge .L7
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	vpaddd zmm5, zmm5, zmm4
	vpxord zmm4, zmm4, zmm5
	vprold zmm4, zmm4, 16
	add r9d, 8
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L9
	jmp .L6
.L7:
	# x[g.x] = a ^ b
	vpxord zmm4, zmm5, zmm4
	vcvtdq2ps zmm4, zmm4
	vmovups zmmword ptr [rbx + r10*4]{k2}, zmm4
	add rdi, 16
.L8:
	mov r9d, dword ptr [rbp + 32]
	sub r8, r9
	add r8, 15
	shr r8, 4
	sub qword ptr [rbp + 48], r8
	jle .L10
	mov dword ptr [rbp + 32], 0
	mov r9d, dword ptr [rbp + 36]
	add r9d, 1
	mov dword ptr [rbp + 36], r9d
	cmp r9d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L9:
.L10:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 64, 0
.L11:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L12:
	.byte 0x00,0x00,0x00,0x4f
	.balign 4, 0
.L13:
	.byte 0xff,0xff,0xff,0x7f
	.balign 4, 0
.L14:
	.byte 0xb9,0x79,0x37,0x9e
