import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import type { AttackedRuntime } from './attacked-runtime.fixture.ts';

/**
 * A system call by number, with up to three arguments; -1n stands for the address of `data`. With `int80`, an x86-64 program uses the
 * 32-bit interface, which has different numbers and 32-bit registers.
 */
export type SystemCall = { number: number; args?: bigint[]; int80?: boolean; data?: Buffer };

type Machine = { elf: number; code: (call: SystemCall, args: bigint[]) => Buffer };

/** Load address, low enough for addresses to fit in 32 bits. */
const LOADED_AT = 0x400000;
const HEADER_BYTES = 64 + 56;

/** The errno of each call; 0 on success. */
export type Answers = Record<string, number>;

/** Runs each call as a separate program, all in one container of the pod, with this security context. */
export async function makeCalls(
  attacked: AttackedRuntime,
  { pod, image, linux }: { pod: Awaited<ReturnType<AttackedRuntime['pod']>>; image: string; linux: object },
): Promise<Answers> {
  const script = 'for program in /calls/*; do $program; echo "$program $?"; done';
  const { out } = await attacked.run(pod, { image: { image }, script, linux });
  return Object.fromEntries(
    [...out.matchAll(/^\/calls\/(\S+) (\d+)$/gm)].map(([, name, errno]) => [name, Number(errno)]),
  );
}

/** Returns the programs for these calls as image files, named after the calls. */
export function callFiles(calls: Record<string, SystemCall>): FixtureEntry[] {
  return Object.entries(calls).map(([name, call]) => ({ name: `calls/${name}`, mode: 0o755, body: program(call) }));
}

/**
 * Returns a static ELF program for this machine (elf(5)), assembled without a compiler or C library. It exits with 0 if the call succeeds,
 * otherwise with the errno.
 */
function program(call: SystemCall): Buffer {
  const machine = MACHINES[process.arch];
  if (machine === undefined) throw new Error(`there is no machine code for ${process.arch}`);
  const args = [0, 1, 2].map((index) => call.args?.[index] ?? 0n);
  const { length } = machine.code(call, args);
  const dataAt = BigInt(LOADED_AT + HEADER_BYTES + length);
  const code = machine.code(
    call,
    args.map((arg) => (arg === -1n ? dataAt : arg)),
  );
  const content = Buffer.concat([code, call.data ?? Buffer.alloc(0)]);
  return Buffer.concat([elfHeader(machine.elf), programHeader(content.length), content]);
}

function elfHeader(machine: number): Buffer {
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01\x01', 'latin1'); // 64 bits, little endian
  header.writeUInt16LE(2, 16); // ET_EXEC
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(LOADED_AT + HEADER_BYTES), 24); // entry point
  header.writeBigUInt64LE(64n, 32); // program headers
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  return header;
}

/** Returns an ELF program header with a single segment for the entire file, since the kernel maps entire pages. */
function programHeader(contentBytes: number): Buffer {
  const header = Buffer.alloc(56);
  header.writeUInt32LE(1, 0); // PT_LOAD
  header.writeUInt32LE(5, 4); // readable, executable
  header.writeBigUInt64LE(BigInt(LOADED_AT), 16);
  header.writeBigUInt64LE(BigInt(LOADED_AT), 24);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES + contentBytes), 32);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES + contentBytes), 40);
  header.writeBigUInt64LE(0x1000n, 48);
  return header;
}

const bytes = (...values: number[]): Buffer => Buffer.from(values);

function uint64(value: bigint): Buffer {
  const encoded = Buffer.alloc(8);
  encoded.writeBigUInt64LE(BigInt.asUintN(64, value));
  return encoded;
}

const uint32 = (value: bigint): Buffer => uint64(value).subarray(0, 4);

function codeForX64({ number, int80 }: SystemCall, args: bigint[]): Buffer {
  const [first, second, third] = args as [bigint, bigint, bigint];
  const enter = int80
    ? [bytes(0xbb), uint32(first), bytes(0xb9), uint32(second), bytes(0xba), uint32(third)] // mov ebx, ecx, edx
    : [bytes(0x48, 0xbf), uint64(first), bytes(0x48, 0xbe), uint64(second), bytes(0x48, 0xba), uint64(third)]; // rdi, rsi, rdx
  return Buffer.concat([
    ...enter,
    bytes(0xb8), // mov eax, number
    uint32(BigInt(number)),
    int80 ? bytes(0xcd, 0x80) : bytes(0x0f, 0x05), // int 0x80, syscall
    bytes(0x31, 0xff), // xor edi, edi
    bytes(0xf7, 0xd8), // neg eax
    bytes(0x0f, 0x4f, 0xf8), // cmovg edi, eax: an errno is above 0 now
    bytes(0xb8, 231, 0, 0, 0), // mov eax, exit_group
    bytes(0x0f, 0x05),
  ]);
}

function codeForArm64({ number }: SystemCall, args: bigint[]): Buffer {
  const move = (register: number, value: bigint) =>
    [0n, 1n, 2n, 3n].map((part) => {
      const kept = part === 0n ? 0xd2800000n : 0xf2800000n; // movz, movk
      const bits = (BigInt.asUintN(64, value) >> (16n * part)) & 0xffffn;
      return uint32(kept | (part << 21n) | (bits << 5n) | BigInt(register));
    });
  return Buffer.concat([
    ...args.flatMap((arg, register) => move(register, arg)),
    ...move(8, BigInt(number)),
    uint32(0xd4000001n), // svc #0
    uint32(0x7100001fn), // cmp w0, #0
    uint32(0x5a80a7e0n), // csneg w0, wzr, w0, ge
    ...move(8, 94n), // exit_group
    uint32(0xd4000001n),
  ]);
}

const MACHINES: Partial<Record<NodeJS.Architecture, Machine>> = {
  x64: { elf: 62, code: codeForX64 },
  arm64: { elf: 183, code: codeForArm64 },
};
