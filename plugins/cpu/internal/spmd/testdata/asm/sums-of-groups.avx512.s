	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vpbroadcastd zmm0, dword ptr [rip + .L21]
	vpbroadcastd zmm1, dword ptr [rip + .L22]
	vpbroadcastd zmm2, dword ptr [rip + .L23]
	mov rbx, qword ptr [rbp + 3088]
	mov rsi, qword ptr [rbp + 3128]
.L1:
	mov r15, qword ptr [rbp + 16]
	mov rdi, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], rdi
.L2:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L2
	mov r15, qword ptr [rbp + 16]
.L3:
	mov edi, dword ptr [r15]
	test edi, edi
	je .L14
	mov edi, dword ptr [r15]
	cmp edi, -2
	je .L17
	cmp edi, 1
	je .L15
.L4:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
	cmp dword ptr [rbp + 128], 0
	je .L3
	mov rdi, qword ptr [rbp + 112]
	cmp rdi, qword ptr [rbp + 144]
	jne .L13
	cmp dword ptr [rbp + 128], 1
	jne .L12
	test dword ptr [rbp + 132], 1
	je .L13
	mov rdi, qword ptr [rbp + 16]
	mov r8, qword ptr [rbp + 136]
	mov r9, qword ptr [rbp + 168]
.L5:
	shr r9, 1
	je .L10
	mov r10, r9
	imul r10, r8
	mov r12, rdi
	lea r10, [rdi + r10*1]
	mov r13, r10
.L6:
	cmp r13, qword ptr [rbp + 104]
	jae .L7
	vmovups zmm3, zmmword ptr [r12 + 512]
	vaddps zmm3, zmm3, zmmword ptr [r13 + 512]
	vmovups zmmword ptr [r12 + 512], zmm3
	add r12, r8
	add r13, r8
	cmp r12, r10
	jb .L6
.L7:
.L8:
	cmp r12, r10
	jae .L9
	vaddps zmm3, zmm0, zmmword ptr [r12 + 512]
	vmovups zmmword ptr [r12 + 512], zmm3
	add r12, r8
	jmp .L8
.L9:
	jmp .L5
.L10:
	vmovups zmm3, zmmword ptr [rdi + 512]
	vshufi64x2 zmm4, zmm3, zmm3, 78
	vaddps zmm4, zmm3, zmm4
	vshufi64x2 zmm3, zmm4, zmm4, 177
	vaddps zmm3, zmm4, zmm3
	vpshufd zmm4, zmm3, 78
	vaddps zmm4, zmm3, zmm4
	vpshufd zmm3, zmm4, 177
	vaddps zmm3, zmm4, zmm3
	vmovd r13d, xmm3
.L11:
	mov dword ptr [rdi + 512], r13d
	add rdi, r8
	cmp rdi, qword ptr [rbp + 104]
	jb .L11
	mov dword ptr [rbp + 128], 0
	jmp .L3
.L12:
.L13:
	mov eax, 0
	call .L20
	jmp .L3
.L14:
	mov edi, dword ptr [rbp + 68]
	imul edi, dword ptr [rbp + 80]
	add edi, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 832], rcx
	mov dword ptr [r15 + 20], edi
	# x[g.x]
	movsxd rdi, edi
	vmovups zmm3, zmmword ptr [rbx + rdi*4]
	vmovups zmmword ptr [r15 + 512], zmm3
	kxnorw k1, k1, k1
	kmovw word ptr [r15 + 768], k1
	mov dword ptr [rbp + 128], 1
	mov dword ptr [r15], 1
	jmp .L4
.L15:
	vbroadcastss zmm3, dword ptr [r15 + 512]
	# g.local.x === 0
	mov edi, 0
	mov edi, edi
	mov rcx, qword ptr [r15 + 832]
	sub edi, ecx
	cmp edi, 16
	jae .L16
	mov edi, dword ptr [rbp + 68]
	# out[g.group.x]
	vmovdqa64 zmm4, zmm1
	vfixupimmps zmm4, zmm3, zmm2, 0
	movsxd rdi, edi
	vmovss dword ptr [rsi + rdi*4], xmm4
.L16:
.L17:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L4
	sub qword ptr [rbp + 48], 1
	je .L19
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L18
	mov edi, dword ptr [rbp + 68]
	add edi, 1
	mov dword ptr [rbp + 68], edi
	cmp edi, dword ptr [rbp + 92]
	jl .L1
	mov dword ptr [rbp + 68], 0
	mov edi, dword ptr [rbp + 72]
	add edi, 1
	mov dword ptr [rbp + 72], edi
	cmp edi, dword ptr [rbp + 96]
	jl .L1
	mov dword ptr [rbp + 72], 0
	mov edi, dword ptr [rbp + 76]
	add edi, 1
	mov dword ptr [rbp + 76], edi
	jmp .L1
.L18:
.L19:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
.L20:
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
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.byte 0x08,0x00,0x00,0x00,0x09,0x00,0x00,0x00,0x0a,0x00,0x00,0x00,0x0b,0x00,0x00,0x00
	.byte 0x0c,0x00,0x00,0x00,0x0d,0x00,0x00,0x00,0x0e,0x00,0x00,0x00,0x0f,0x00,0x00,0x00
	.balign 4, 0
.L21:
	.byte 0x00,0x00,0x00,0x00
	.balign 4, 0
.L22:
	.byte 0x00,0x00,0xc0,0x7f
	.balign 4, 0
.L23:
	.byte 0x00,0x11,0x11,0x11
