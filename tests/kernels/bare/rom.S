// The last 4 KB of the ROM, which end with what the processor runs when it is switched on: on to 32 bits, the image
// copied from the begin of the ROM to 1 MB, and there.
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
    mov $0xffe00000, %esi
    mov $0x100000, %edi
    mov $(0x1ff000 / 4), %ecx
    rep movsl
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
