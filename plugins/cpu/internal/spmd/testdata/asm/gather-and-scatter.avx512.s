	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L16]
	vpbroadcastd zmm1, dword ptr [rip + .L17]
	vpbroadcastd zmm2, dword ptr [rip + .L18]
	vpbroadcastd zmm3, dword ptr [rip + .L19]
	vpbroadcastd zmm4, dword ptr [rip + .L20]
	mov rbx, qword ptr [rbp + 3096]
	mov rsi, qword ptr [rbp + 3136]
	mov rdi, qword ptr [rbp + 3176]
	mov r8d, dword ptr [rbp + 56]
.L1:
	mov r9d, dword ptr [rbp + 32]
	mov r10, qword ptr [rbp + 48]
	shl r10, 4
	add r10, r9
	cmp r10, r8
	cmovg r10, r8
	lea r12, [r10 - 16]
	cmp r9, r12
	jg .L5
.L2:
	vpbroadcastd zmm5, r9d
	vpaddd zmm5, zmm5, zmm0
	# y[g.x]
	vmovups zmm6, zmmword ptr [rsi + r9*4]
	vcmpps k1, zmm6, zmm6, 7
	vcmpps k2, zmm6, zmm1, 13
	vcvttps2dq zmm6{k1}{z}, zmm6
	vpblendmd zmm6{k2}, zmm6, zmm2
	vmovups zmm7, zmmword ptr [rsi + r9*4 + 4]
	vcmpps k2, zmm7, zmm7, 7
	vcmpps k1, zmm7, zmm1, 13
	vcvttps2dq zmm7{k2}{z}, zmm7
	vpblendmd zmm7{k1}, zmm7, zmm2
	vpcmpud k1, zmm7, dword ptr [rbp + 3104]{1to16}, 5
	kortestw k1, k1
	jne .L8
	vpxord zmm8, zmm8, zmm8
	kxnorw k1, k1, k1
	vpgatherdd zmm8{k1}, [rbx + zmm7*4]
	vpmulld zmm7, zmm5, zmm3
	vpxord zmm5, zmm5, zmm5
	kxnorw k1, k1, k1
	vpgatherdd zmm5{k1}, [rbx + zmm7*4]
	vaddps zmm5, zmm8, zmm5
	vrangeps zmm5, zmm4, zmm5, 4
	vpcmpud k1, zmm6, dword ptr [rbp + 3184]{1to16}, 5
	kortestw k1, k1
	jne .L9
	kxnorw k1, k1, k1
	vpscatterdd [rdi + zmm6*4]{k1}, zmm5
.L3:
	test r9d, 240
	je .L10
.L4:
	add r9, 16
	cmp r9, r12
	jle .L2
.L5:
	cmp r9, r10
	jge .L7
	mov r12, r10
	sub r12, r9
	vpbroadcastd zmm5, r12d
	vpcmpd k1, zmm5, zmm0, 6
	vpbroadcastd zmm5, r9d
	vpaddd zmm5, zmm5, zmm0
	# y[g.x]
	vmovups zmm6{k1}{z}, zmmword ptr [rsi + r9*4]
	vcmpps k2, zmm6, zmm6, 7
	vcmpps k3, zmm6, zmm1, 13
	vcvttps2dq zmm6{k2}{z}, zmm6
	vpblendmd zmm6{k3}, zmm6, zmm2
	vmovups zmm7{k1}{z}, zmmword ptr [rsi + r9*4 + 4]
	vcmpps k3, zmm7, zmm7, 7
	vcmpps k2, zmm7, zmm1, 13
	vcvttps2dq zmm7{k3}{z}, zmm7
	vpblendmd zmm7{k2}, zmm7, zmm2
	vpcmpud k2{k1}, zmm7, dword ptr [rbp + 3104]{1to16}, 5
	kortestw k2, k2
	jne .L11
	vpxord zmm8, zmm8, zmm8
	kmovw k2, k1
	vpgatherdd zmm8{k2}, [rbx + zmm7*4]
	vpmulld zmm7, zmm5, zmm3
	vpxord zmm5, zmm5, zmm5
	kmovw k2, k1
	vpgatherdd zmm5{k2}, [rbx + zmm7*4]
	vaddps zmm5, zmm8, zmm5
	vrangeps zmm5, zmm4, zmm5, 4
	vpcmpud k2{k1}, zmm6, dword ptr [rbp + 3184]{1to16}, 5
	kortestw k2, k2
	jne .L12
	vpscatterdd [rdi + zmm6*4]{k1}, zmm5
.L6:
	add r9, 16
.L7:
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
.L8:
	mov eax, 0
	call .L15
	jmp .L3
.L9:
	mov eax, 1
	call .L15
	jmp .L3
.L10:
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L4
.L11:
	mov eax, 2
	call .L15
	jmp .L6
.L12:
	mov eax, 3
	call .L15
	jmp .L6
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
	kmovw word ptr [rbp + 392], k1
	kmovw word ptr [rbp + 400], k2
	kmovw word ptr [rbp + 408], k3
	kmovw word ptr [rbp + 416], k4
	kmovw word ptr [rbp + 424], k5
	kmovw word ptr [rbp + 432], k6
	kmovw word ptr [rbp + 440], k7
	vmovups zmmword ptr [rbp + 448], zmm0
	vmovups zmmword ptr [rbp + 512], zmm1
	vmovups zmmword ptr [rbp + 576], zmm2
	vmovups zmmword ptr [rbp + 640], zmm3
	vmovups zmmword ptr [rbp + 704], zmm4
	vmovups zmmword ptr [rbp + 768], zmm5
	vmovups zmmword ptr [rbp + 832], zmm6
	vmovups zmmword ptr [rbp + 896], zmm7
	vmovups zmmword ptr [rbp + 960], zmm8
	vmovups zmmword ptr [rbp + 1024], zmm9
	vmovups zmmword ptr [rbp + 1088], zmm10
	vmovups zmmword ptr [rbp + 1152], zmm11
	vmovups zmmword ptr [rbp + 1216], zmm12
	vmovups zmmword ptr [rbp + 1280], zmm13
	vmovups zmmword ptr [rbp + 1344], zmm14
	vmovups zmmword ptr [rbp + 1408], zmm15
	vmovups zmmword ptr [rbp + 1472], zmm16
	vmovups zmmword ptr [rbp + 1536], zmm17
	vmovups zmmword ptr [rbp + 1600], zmm18
	vmovups zmmword ptr [rbp + 1664], zmm19
	vmovups zmmword ptr [rbp + 1728], zmm20
	vmovups zmmword ptr [rbp + 1792], zmm21
	vmovups zmmword ptr [rbp + 1856], zmm22
	vmovups zmmword ptr [rbp + 1920], zmm23
	vmovups zmmword ptr [rbp + 1984], zmm24
	vmovups zmmword ptr [rbp + 2048], zmm25
	vmovups zmmword ptr [rbp + 2112], zmm26
	vmovups zmmword ptr [rbp + 2176], zmm27
	vmovups zmmword ptr [rbp + 2240], zmm28
	vmovups zmmword ptr [rbp + 2304], zmm29
	vmovups zmmword ptr [rbp + 2368], zmm30
	vmovups zmmword ptr [rbp + 2432], zmm31
	vzeroupper
	ret
	.balign 16
	mov rbp, rdi
	vmovups zmm0, zmmword ptr [rbp + 448]
	vmovups zmm1, zmmword ptr [rbp + 512]
	vmovups zmm2, zmmword ptr [rbp + 576]
	vmovups zmm3, zmmword ptr [rbp + 640]
	vmovups zmm4, zmmword ptr [rbp + 704]
	vmovups zmm5, zmmword ptr [rbp + 768]
	vmovups zmm6, zmmword ptr [rbp + 832]
	vmovups zmm7, zmmword ptr [rbp + 896]
	vmovups zmm8, zmmword ptr [rbp + 960]
	vmovups zmm9, zmmword ptr [rbp + 1024]
	vmovups zmm10, zmmword ptr [rbp + 1088]
	vmovups zmm11, zmmword ptr [rbp + 1152]
	vmovups zmm12, zmmword ptr [rbp + 1216]
	vmovups zmm13, zmmword ptr [rbp + 1280]
	vmovups zmm14, zmmword ptr [rbp + 1344]
	vmovups zmm15, zmmword ptr [rbp + 1408]
	vmovups zmm16, zmmword ptr [rbp + 1472]
	vmovups zmm17, zmmword ptr [rbp + 1536]
	vmovups zmm18, zmmword ptr [rbp + 1600]
	vmovups zmm19, zmmword ptr [rbp + 1664]
	vmovups zmm20, zmmword ptr [rbp + 1728]
	vmovups zmm21, zmmword ptr [rbp + 1792]
	vmovups zmm22, zmmword ptr [rbp + 1856]
	vmovups zmm23, zmmword ptr [rbp + 1920]
	vmovups zmm24, zmmword ptr [rbp + 1984]
	vmovups zmm25, zmmword ptr [rbp + 2048]
	vmovups zmm26, zmmword ptr [rbp + 2112]
	vmovups zmm27, zmmword ptr [rbp + 2176]
	vmovups zmm28, zmmword ptr [rbp + 2240]
	vmovups zmm29, zmmword ptr [rbp + 2304]
	vmovups zmm30, zmmword ptr [rbp + 2368]
	vmovups zmm31, zmmword ptr [rbp + 2432]
	kmovw k1, word ptr [rbp + 392]
	kmovw k2, word ptr [rbp + 400]
	kmovw k3, word ptr [rbp + 408]
	kmovw k4, word ptr [rbp + 416]
	kmovw k5, word ptr [rbp + 424]
	kmovw k6, word ptr [rbp + 432]
	kmovw k7, word ptr [rbp + 440]
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
	.balign 64, 0
.L16:
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L17:
	.byte 0x00,0x00,0x00,0x4f
	.balign 4, 0
.L18:
	.byte 0xff,0xff,0xff,0x7f
	.balign 4, 0
	.byte 0x01,0x00,0x00,0x00
	.balign 4, 0
.L19:
	.byte 0x03,0x00,0x00,0x00
	.balign 4, 0
.L20:
	.byte 0x00,0x00,0xc0,0x7f
