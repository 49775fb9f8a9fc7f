	.intel_syntax noprefix
	mov rbp, rdi
	mov r15, qword ptr [rbp + 16]
	vmovups ymm0, ymmword ptr [rip + .L14]
	vmovups ymm1, ymmword ptr [rip + .L15]
	mov rcx, qword ptr [rbp + 3096]
	mov qword ptr [rbp + 3328], rcx
	mov rsi, qword ptr [rbp + 3136]
	mov rcx, qword ptr [rbp + 3176]
	mov qword ptr [rbp + 3336], rcx
	mov r8, qword ptr [rbp + 3296]
	mov r9, qword ptr [rbp + 3304]
	mov r10, qword ptr [rbp + 3112]
	mov r12, qword ptr [rbp + 3152]
	mov r13, qword ptr [rbp + 3192]
	imul r14, r12, 512
.L1:
	mov rdx, qword ptr [rbp + 152]
	mov r11d, 0
.L2:
	vmovups ymmword ptr [rdx + r11*1], ymm0
	add r11, 32
	cmp r11, 2048
	jb .L2
	mov r15, qword ptr [rbp + 16]
	mov r11, qword ptr [rbp + 144]
	mov qword ptr [rbp + 112], r11
.L3:
	mov dword ptr [r15], 0
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L3
	mov r15, qword ptr [rbp + 16]
.L4:
	mov r11d, dword ptr [r15]
	test r11d, r11d
	je .L6
	mov r11d, dword ptr [r15]
	cmp r11d, -2
	je .L11
	cmp r11d, 1
	je .L8
	cmp r11d, 2
	je .L9
.L5:
	add r15, qword ptr [rbp + 136]
	cmp r15, qword ptr [rbp + 104]
	jb .L4
	mov r15, qword ptr [rbp + 16]
	jmp .L4
.L6:
	mov r11d, dword ptr [rbp + 68]
	imul r11d, dword ptr [rbp + 80]
	add r11d, dword ptr [r15 + 8]
	mov ecx, dword ptr [r15 + 8]
	mov qword ptr [r15 + 480], rcx
	mov dword ptr [r15 + 20], r11d
	mov ecx, dword ptr [r15 + 12]
	mov qword ptr [r15 + 488], rcx
	mov edx, dword ptr [rbp + 72]
	imul edx, dword ptr [rbp + 84]
	add edx, dword ptr [r15 + 12]
	# k < 512
	mov ecx, 0
	mov qword ptr [r15 + 496], rcx
	vmovups ymmword ptr [r15 + 512], ymm0
	movsxd rbx, edx
	imul rbx, r10
	mov rcx, qword ptr [rbp + 3328]
	lea rcx, [rcx + rbx*4]
	mov qword ptr [r15 + 544], rcx
	mov rcx, qword ptr [r15 + 488]
	movsxd rbx, ecx
	mov rcx, qword ptr [r15 + 480]
	movsxd rcx, ecx
	mov qword ptr [r15 + 552], rcx
	imul rdi, rbx, 64
	lea rcx, [r8 + rdi*1]
	mov qword ptr [r15 + 560], rcx
	movsxd rcx, r11d
	mov qword ptr [r15 + 568], rcx
	imul rbx, rbx, 64
	lea rcx, [r9 + rbx*1]
	mov qword ptr [r15 + 576], rcx
	mov qword ptr [r15 + 584], r11
	mov qword ptr [r15 + 592], rdx
.L7:
	# k < 512
	mov rbx, qword ptr [r15 + 496]
	mov rdx, qword ptr [r15 + 552]
	cmp ebx, 512
	jge .L10
	# ta[y][x] = a[g.y][k + x]
	mov r11, rbx
	mov rcx, qword ptr [r15 + 480]
	add r11d, ecx
	movsxd r11, r11d
	mov rcx, qword ptr [r15 + 544]
	vmovups ymm2, ymmword ptr [rcx + r11*4]
	mov rcx, qword ptr [r15 + 560]
	vmovups ymmword ptr [rcx + rdx*4], ymm2
	# tb[y][x] = b[k + y][g.x]
	mov rcx, qword ptr [r15 + 488]
	add ebx, ecx
	movsxd rbx, ebx
	imul rbx, r12
	lea rbx, [rsi + rbx*4]
	mov rcx, qword ptr [r15 + 568]
	lea rbx, [rbx + rcx*4]
	prefetcht0 [rbx + r14*1]
	vmovups ymm2, ymmword ptr [rbx]
	mov rcx, qword ptr [r15 + 576]
	vmovups ymmword ptr [rcx + rdx*4], ymm2
	# g.barrier()
	mov dword ptr [r15], 1
	jmp .L5
.L8:
	# ta[y][i]
	mov rbx, qword ptr [r15 + 560]
	vmovups ymm2, ymmword ptr [r15 + 512]
	mov rdx, qword ptr [r15 + 552]
	vbroadcastss ymm3, dword ptr [rbx]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4]
	vbroadcastss ymm3, dword ptr [rbx + 4]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 64]
	vbroadcastss ymm3, dword ptr [rbx + 8]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 128]
	vbroadcastss ymm3, dword ptr [rbx + 12]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 192]
	vbroadcastss ymm3, dword ptr [rbx + 16]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 256]
	vbroadcastss ymm3, dword ptr [rbx + 20]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 320]
	vbroadcastss ymm3, dword ptr [rbx + 24]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 384]
	vbroadcastss ymm3, dword ptr [rbx + 28]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 448]
	vbroadcastss ymm3, dword ptr [rbx + 32]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 512]
	vbroadcastss ymm3, dword ptr [rbx + 36]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 576]
	vbroadcastss ymm3, dword ptr [rbx + 40]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 640]
	vbroadcastss ymm3, dword ptr [rbx + 44]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 704]
	vbroadcastss ymm3, dword ptr [rbx + 48]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 768]
	vbroadcastss ymm3, dword ptr [rbx + 52]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 832]
	vbroadcastss ymm3, dword ptr [rbx + 56]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 896]
	vbroadcastss ymm3, dword ptr [rbx + 60]
	vfmadd231ps ymm2, ymm3, ymmword ptr [r9 + rdx*4 + 960]
	# g.barrier()
	mov dword ptr [r15], 2
	vmovups ymmword ptr [r15 + 512], ymm2
	jmp .L5
.L9:
	# k += 16
	mov rdx, qword ptr [r15 + 496]
	add edx, 16
	mov qword ptr [r15 + 496], rdx
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L12
	jmp .L7
.L10:
	# c[g.y][g.x]
	vmovups ymm3, ymmword ptr [r15 + 512]
	vcmpps ymm2, ymm3, ymm3, 3
	vblendvps ymm3, ymm3, ymm1, ymm2
	mov rcx, qword ptr [r15 + 592]
	movsxd rdx, ecx
	mov rcx, qword ptr [r15 + 584]
	movsxd rbx, ecx
	imul rdx, r13
	mov rcx, qword ptr [rbp + 3336]
	lea rdx, [rcx + rdx*4]
	vmovups ymmword ptr [rdx + rbx*4], ymm3
.L11:
	mov dword ptr [r15], 4294967295
	sub qword ptr [rbp + 112], 1
	jne .L5
	sub qword ptr [rbp + 48], 1
	je .L13
	mov rax, qword ptr [rbp + 24]
	cmp byte ptr [rax], 0
	jne .L12
	mov edx, dword ptr [rbp + 68]
	add edx, 1
	mov dword ptr [rbp + 68], edx
	cmp edx, dword ptr [rbp + 92]
	jl .L1
	mov dword ptr [rbp + 68], 0
	mov edx, dword ptr [rbp + 72]
	add edx, 1
	mov dword ptr [rbp + 72], edx
	cmp edx, dword ptr [rbp + 96]
	jl .L1
	mov dword ptr [rbp + 72], 0
	mov edx, dword ptr [rbp + 76]
	add edx, 1
	mov dword ptr [rbp + 76], edx
	jmp .L1
.L12:
.L13:
	mov dword ptr [rbp], 0
	vzeroupper
	ret
	.balign 64, 0xcc
	.balign 32, 0
.L14:
	.byte 0x00,0x00,0x00,0x00 # 8 times
	.balign 32, 0
	.byte 0x00,0x00,0x00,0x00,0x01,0x00,0x00,0x00,0x02,0x00,0x00,0x00,0x03,0x00,0x00,0x00
	.byte 0x04,0x00,0x00,0x00,0x05,0x00,0x00,0x00,0x06,0x00,0x00,0x00,0x07,0x00,0x00,0x00
	.balign 32, 0
.L15:
	.byte 0x00,0x00,0xc0,0x7f # 8 times
