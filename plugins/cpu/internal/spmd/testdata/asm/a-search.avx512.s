	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups zmm0, zmmword ptr [rip + .L16]
	vpbroadcastd zmm1, dword ptr [rip + .L17]
	vpbroadcastd zmm2, dword ptr [rip + .L18]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
	mov edi, dword ptr [rbp + 3096]
	mov r8d, dword ptr [rbp + 56]
	vpbroadcastd zmm3, edi
	vpbroadcastd zmm4, edi
.L1:
	mov edi, dword ptr [rbp + 32]
	mov r9, qword ptr [rbp + 48]
	shl r9, 4
	add r9, rdi
	cmp r9, r8
	cmovg r9, r8
	lea r10, [rdi + 16]
	cmp r10, r9
	jg .L6
.L2:
	# y[g.x]
	movsxd r10, edi
	vmovups zmm5, zmmword ptr [rsi + r10*4]
	vmovdqa64 zmm7, zmm1
	vmovdqa64 zmm8, zmm3
	kxnorw k1, k1, k1
.L3:
	# lo < hi
	vmovdqa32 zmm6{k1}, zmm7
	vpcmpd k1{k1}, zmm7, zmm8, 1
	kortestw k1, k1
	je .L4
	vpaddd zmm9, zmm7, zmm8
	vpsrad zmm9, zmm9, 1
	vpcmpud k2{k1}, zmm9, dword ptr [rbp + 3096]{1to16}, 5
	kortestw k2, k2
	jne .L11
	vpxord zmm10, zmm10, zmm10
	kmovw k2, k1
	vpgatherdd zmm10{k2}, [rbx + zmm9*4]
	vcmpps k2{k1}, zmm10, zmm5, 1
	kandnw k2, k2, k1
	# lo = m + 1
	vpaddd zmm11, zmm9, zmm2
	vmovdqa64 zmm12, zmm8
	vmovdqa32 zmm11{k2}, zmm7
	vmovdqa32 zmm12{k2}, zmm9
	vmovdqa64 zmm7, zmm11
	vmovdqa64 zmm8, zmm12
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L3
.L4:
	# y[g.x] = lo
	vcvtdq2ps zmm12, zmm6
	vmovups zmmword ptr [rsi + r10*4], zmm12
.L5:
	add rdi, 16
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	lea r10, [rdi + 16]
	cmp r10, r9
	jle .L2
.L6:
	cmp rdi, r9
	jge .L10
	mov r10, r9
	sub r10, rdi
	vpbroadcastd zmm12, r10d
	vpcmpd k2, zmm12, zmm0, 6
	# y[g.x]
	movsxd r10, edi
	vmovups zmm12{k2}{z}, zmmword ptr [rsi + r10*4]
	vmovdqa64 zmm10, zmm1
	vmovdqa64 zmm9, zmm4
	kmovw k1, k2
.L7:
	# lo < hi
	vmovdqa32 zmm11{k1}, zmm10
	vpcmpd k1{k1}, zmm10, zmm9, 1
	kortestw k1, k1
	je .L8
	vpaddd zmm8, zmm10, zmm9
	vpsrad zmm8, zmm8, 1
	vpcmpud k3{k1}, zmm8, dword ptr [rbp + 3096]{1to16}, 5
	kortestw k3, k3
	jne .L12
	vpxord zmm7, zmm7, zmm7
	kmovw k3, k1
	vpgatherdd zmm7{k3}, [rbx + zmm8*4]
	vcmpps k3{k1}, zmm7, zmm12, 1
	kandnw k3, k3, k1
	# lo = m + 1
	vpaddd zmm6, zmm8, zmm2
	vmovdqa64 zmm5, zmm9
	vmovdqa32 zmm6{k3}, zmm10
	vmovdqa32 zmm5{k3}, zmm8
	vmovdqa64 zmm10, zmm6
	vmovdqa64 zmm9, zmm5
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L13
	jmp .L7
.L8:
	# y[g.x] = lo
	vcvtdq2ps zmm5, zmm11
	vmovups zmmword ptr [rsi + r10*4]{k2}, zmm5
.L9:
	add rdi, 16
.L10:
	mov r10d, dword ptr [rbp + 32]
	sub r9, r10
	add r9, 15
	shr r9, 4
	sub qword ptr [rbp + 48], r9
	jle .L14
	mov dword ptr [rbp + 32], 0
	mov r10d, dword ptr [rbp + 36]
	add r10d, 1
	mov dword ptr [rbp + 36], r10d
	cmp r10d, dword ptr [rbp + 60]
	jb .L1
	mov dword ptr [rbp + 36], 0
	add dword ptr [rbp + 40], 1
	jmp .L1
.L11:
	mov eax, 0
	call .L15
	jmp .L5
.L12:
	mov eax, 1
	call .L15
	jmp .L9
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
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L18:
	.byte 0x01,0x00,0x00,0x00
