// The entry point for rom.S: identity-maps all memory below 4 GB, switches to 64 bits, enables the vector registers
// that the processor has, installs a handler for every exception, then calls the image's `run`.
.code32
.section .text.start, "ax"
.globl _start
_start:
    mov $stack_end, %esp
    mov $bss_begin, %edi
    mov $bss_end, %ecx
    sub %edi, %ecx
    xor %eax, %eax
    rep stosb
    movl $pages_3 + 3, pages_4
    xor %ecx, %ecx
1:  mov %ecx, %edx
    shl $12, %edx
    add $pages_2 + 3, %edx
    mov %edx, pages_3(,%ecx,8)
    inc %ecx
    cmp $4, %ecx
    jne 1b
    xor %ecx, %ecx
2:  mov %ecx, %edx
    shl $21, %edx
    or $0x83, %edx
    mov %edx, pages_2(,%ecx,8)
    inc %ecx
    cmp $2048, %ecx
    jne 2b
    // PAE, SSE and its exceptions; XSAVE if available.
    mov $0x620, %esi
    mov $1, %eax
    cpuid
    test $1 << 26, %ecx
    jz 3f
    or $1 << 18, %esi
3:  mov %esi, %cr4
    mov $pages_4, %eax
    mov %eax, %cr3
    mov $0xc0000080, %ecx
    rdmsr
    or $0x100, %eax
    wrmsr
    mov %cr0, %eax
    and $~0x0c, %eax
    or $0x80000023, %eax
    mov %eax, %cr0
    lgdt segment_table
    ljmp $8, $long_mode
.code64
long_mode:
    mov $16, %eax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    test $1 << 18, %esi
    jz 4f
    mov $13, %eax
    xor %ecx, %ecx
    cpuid
    and $0xe7, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xsetbv
4:  mov $stack_end, %rsp
    // Exceptions: each vector's stub pushes its number.
    mov $stub_0, %rax
    mov $vectors, %rdi
    mov $32, %ecx
5:  mov %ax, (%rdi)
    movl $0x8e000008, 2(%rdi)
    mov %rax, %rdx
    shr $16, %rdx
    mov %dx, 6(%rdi)
    add $16, %rax
    add $16, %rdi
    dec %ecx
    jnz 5b
    lidt vector_table
    // The C library keeps errno below this.
    mov $0xc0000100, %ecx
    mov $thread_end, %eax
    xor %edx, %edx
    wrmsr
    call run
6:  hlt
    jmp 6b

.balign 16
stub_0:
.set number, 0
.rept 32
    .balign 16
    pushq $number
    jmp stopped
    .set number, number + 1
.endr
stopped:
    pop %rdi
    pop %rsi
    pop %rdx
    and $-16, %rsp
    call on_exception

.section .data
.balign 16
segments: .quad 0, 0x00af9a000000ffff, 0x00cf92000000ffff
segment_table: .word 23
    .long segments
.balign 16
vector_table: .word 511
    .quad vectors
.section .bss.start, "aw", @nobits
.balign 4096
pages_4: .skip 4096
pages_3: .skip 4096
pages_2: .skip 16384
vectors: .skip 512
    .skip 4096
thread_end: .skip 4096
    .skip 1 << 20
stack_end:
.section .note.GNU-stack, "", @progbits
