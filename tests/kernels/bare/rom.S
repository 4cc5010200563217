// A 4 KB ROM, which ends with the reset vector: switches to 32 bits, loads the image from the second disk to 1 MB,
// sector by sector, and jumps to it.
.code16
.section .text
.globl reset
begin:
    cli
    mov $2, %al
    out %al, $0x92
    lgdtl %cs:(table - begin + 0xf000)
    mov %cr0, %eax
    or $1, %al
    mov %eax, %cr0
    ljmpl $8, $(flat - begin + 0xfffff000)
.code32
flat:
    mov $16, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    cld
    mov $0x100000, %edi
    xor %ebx, %ebx
sector:
    mov $0x1f6, %dx
    mov $0xf0, %al
    out %al, %dx
    mov $0x1f7, %dx
idle:
    in %dx, %al
    test $0x80, %al
    jnz idle
    mov $0x1f2, %dx
    mov $1, %al
    out %al, %dx
    inc %dx
    mov %bl, %al
    out %al, %dx
    inc %dx
    mov %bh, %al
    out %al, %dx
    inc %dx
    xor %al, %al
    out %al, %dx
    mov $0x1f7, %dx
    mov $0x20, %al
    out %al, %dx
ready:
    in %dx, %al
    and $0x88, %al
    cmp $8, %al
    jne ready
    mov $0x1f0, %dx
    mov $256, %ecx
    rep insw
    inc %ebx
    cmp $8064, %ebx
    jb sector
    mov $0x100000, %eax
    jmp *%eax
.align 8
segments: .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
table: .word 23
    .long segments - begin + 0xfffff000
.org 0xff0
.code16
    jmp begin
.org 0x1000
