	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L21]
	vmovups ymm1, ymmword ptr [rip + .L22]
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
	vmovups ymm2, ymmword ptr [r12 + 288]
	vaddps ymm2, ymm2, ymmword ptr [r13 + 288]
	vmovups ymmword ptr [r12 + 288], ymm2
	add r12, r8
	add r13, r8
	cmp r12, r10
	jb .L6
.L7:
.L8:
	cmp r12, r10
	jae .L9
	vaddps ymm2, ymm0, ymmword ptr [r12 + 288]
	vmovups ymmword ptr [r12 + 288], ymm2
	add r12, r8
	jmp .L8
.L9:
	jmp .L5
.L10:
	vmovups ymm2, ymmword ptr [rdi + 288]
	vperm2i128 ymm3, ymm2, ymm2, 1
	vaddps ymm3, ymm2, ymm3
	vpshufd ymm2, ymm3, 78
	vaddps ymm2, ymm3, ymm2
	vpshufd ymm3, ymm2, 177
	vaddps ymm3, ymm2, ymm3
	vmovd r13d, xmm3
.L11:
	mov dword ptr [rdi + 288], r13d
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
	mov qword ptr [r15 + 480], rcx
	mov dword ptr [r15 + 20], edi
	# x[g.x]
	movsxd rdi, edi
	vmovups ymm3, ymmword ptr [rbx + rdi*4]
	vmovups ymmword ptr [r15 + 288], ymm3
	vpcmpeqd ymm3, ymm3, ymm3
	vmovmskps edi, ymm3
	mov word ptr [r15 + 416], di
	mov dword ptr [rbp + 128], 1
	mov dword ptr [r15], 1
	jmp .L4
.L15:
	vbroadcastss ymm3, dword ptr [r15 + 288]
	# g.local.x === 0
	mov edi, 0
	mov edi, edi
	mov rcx, qword ptr [r15 + 480]
	sub edi, ecx
	cmp edi, 8
	jae .L16
	mov edi, dword ptr [rbp + 68]
	# out[g.group.x]
	vcmpps ymm2, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm1, ymm2
	movsxd rdi, edi
	vmovss dword ptr [rsi + rdi*4], xmm3
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
	vmovups ymmword ptr [rbp + 448], ymm0
	vmovups ymmword ptr [rbp + 512], ymm1
	vmovups ymmword ptr [rbp + 576], ymm2
	vmovups ymmword ptr [rbp + 640], ymm3
	vmovups ymmword ptr [rbp + 704], ymm4
	vmovups ymmword ptr [rbp + 768], ymm5
	vmovups ymmword ptr [rbp + 832], ymm6
	vmovups ymmword ptr [rbp + 896], ymm7
	vmovups ymmword ptr [rbp + 960], ymm8
	vmovups ymmword ptr [rbp + 1024], ymm9
	vmovups ymmword ptr [rbp + 1088], ymm10
	vmovups ymmword ptr [rbp + 1152], ymm11
	vmovups ymmword ptr [rbp + 1216], ymm12
	vmovups ymmword ptr [rbp + 1280], ymm13
	vmovups ymmword ptr [rbp + 1344], ymm14
	vmovups ymmword ptr [rbp + 1408], ymm15
	vzeroupper
	ret
	.balign 16
	mov rbp, rdi
	vmovups ymm0, ymmword ptr [rbp + 448]
	vmovups ymm1, ymmword ptr [rbp + 512]
	vmovups ymm2, ymmword ptr [rbp + 576]
	vmovups ymm3, ymmword ptr [rbp + 640]
	vmovups ymm4, ymmword ptr [rbp + 704]
	vmovups ymm5, ymmword ptr [rbp + 768]
	vmovups ymm6, ymmword ptr [rbp + 832]
	vmovups ymm7, ymmword ptr [rbp + 896]
	vmovups ymm8, ymmword ptr [rbp + 960]
	vmovups ymm9, ymmword ptr [rbp + 1024]
	vmovups ymm10, ymmword ptr [rbp + 1088]
	vmovups ymm11, ymmword ptr [rbp + 1152]
	vmovups ymm12, ymmword ptr [rbp + 1216]
	vmovups ymm13, ymmword ptr [rbp + 1280]
	vmovups ymm14, ymmword ptr [rbp + 1344]
	vmovups ymm15, ymmword ptr [rbp + 1408]
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
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L21:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
.L22:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
