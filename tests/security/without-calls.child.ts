/**
 * `without-calls.child.ts ERRNO NUMBER,NUMBER PROGRAM ARGUMENT...` execs a program with a seccomp filter (seccomp(2)) that makes these
 * system calls fail with this errno, for the program and its children.
 */
import koffi from 'koffi';

// Constants from linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const RET_ALLOW = 0x7fff_0000;
const RET_ERRNO = 0x0005_0000;
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;

/** struct sock_filter: u16 code, u8 jumps if true and if false, u32 operand. */
function instruction(code: number, operand: number, ifTrue = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}

const [, , errno = '', numbers = '', program = '', ...args] = process.argv;
const calls = numbers.split(',').map(Number);
const filter = Buffer.concat([
  instruction(LOAD_WORD, 0), // the number of the call, first in struct seccomp_data
  ...calls.map((number, index) => instruction(JUMP_IF_EQUAL, number, calls.length - index)),
  instruction(RETURN, RET_ALLOW),
  instruction(RETURN, RET_ERRNO | Number(errno)),
]);
koffi.struct('sock_fprog', { len: 'uint16_t', filter: 'void *' });
const prctl = koffi.load(null).func('int prctl(int option, unsigned long mode, sock_fprog *program)');
if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, { len: filter.length / 8, filter }) !== 0)
  throw new Error('set the filter');
process.execve!(program, [program, ...args], process.env as Record<string, string>);
