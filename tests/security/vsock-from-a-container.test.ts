/**
 * A container with the RuntimeDefault profile requests sockets to the host of a virtual machine (AF_VSOCK) and to the kernel's crypto API
 * (AF_ALG, CVE-2026-31431), including by 64-bit numbers, of which the kernel uses only the lower 32 bits.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SecurityProfile_ProfileType } from '@podwright/cri';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';
import { callFiles, makeCalls, type SystemCall } from './syscall-program.fixture.ts';

const EPERM = 1;
const [AF_UNIX, AF_INET, AF_NETLINK, AF_ALG, AF_NFC, AF_VSOCK, AF_MCTP] = [1n, 2n, 16n, 38n, 39n, 40n, 45n];
const UPPER = 1n << 32n;
const socketNumber = process.arch === 'x64' ? 41 : 198;
const socket = (family: bigint, type = 1n): SystemCall => ({ number: socketNumber, args: [family, type, 0n] });

const refused: Record<string, SystemCall> = {
  vsock: socket(AF_VSOCK),
  'vsock-with-upper-bits': socket(UPPER | AF_VSOCK),
  'vsock-with-all-upper-bits': socket((0xffff_ffffn << 32n) | AF_VSOCK),
  alg: socket(AF_ALG, 5n),
  'alg-with-upper-bits': socket(UPPER | AF_ALG, 5n),
  // socket(2) through the 32-bit interface
  ...(process.arch === 'x64' ? { 'vsock-of-32-bits': { number: 359, args: [AF_VSOCK, 1n, 0n], int80: true } } : {}),
};
const allowed: Record<string, SystemCall> = {
  unix: socket(AF_UNIX),
  inet: socket(AF_INET),
  'inet-with-upper-bits': socket(UPPER | AF_INET),
  netlink: socket(AF_NETLINK, 3n),
  nfc: socket(AF_NFC),
  mctp: socket(AF_MCTP),
};

const attacked = new AttackedRuntime();
let image = '';
before(async () => {
  await attacked.start();
  image = await attacked.image('sockets', callFiles({ ...refused, ...allowed }));
});
after(() => attacked.end());

for (const handler of OCI_RUNTIMES) {
  test(`${handler}: no number opens a vsock or a cryptography socket, and all other sockets can be opened`, async () => {
    const pod = await attacked.pod(`sockets-${handler}`, { handler });
    const seccomp = { profileType: SecurityProfile_ProfileType.RuntimeDefault };
    const answers = await makeCalls(attacked, { pod, image, linux: { securityContext: { seccomp } } });
    for (const name of Object.keys(refused)) assert.equal(answers[name], EPERM, name);
    for (const name of Object.keys(allowed)) assert.notEqual(answers[name], EPERM, name);
    for (const name of ['unix', 'inet', 'inet-with-upper-bits', 'netlink']) assert.equal(answers[name], 0, name);
  });
}
