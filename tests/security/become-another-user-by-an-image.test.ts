/**
 * An image specifies a user ID that overflows to root (CVE-2024-40635), or replaces its /etc/passwd, which the runtime reads, with a link
 * to the host's (CVE-2024-9676), a pipe, a device or a symlink loop.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { directory, file, symlink } from '../unpack/layer.fixture.ts';
import { AttackedRuntime } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const hostPasswd = join(attacked.runtime.place.logs, 'of-the-host', 'passwd');
const outward = '../'.repeat(30) + hostPasswd.slice(1);

before(async () => {
  await attacked.start();
  mkdirSync(join(hostPasswd, '..'), { recursive: true });
  writeFileSync(hostPasswd, 'leaked:x:4242:4242::/:/bin/sh\n');
});
after(() => attacked.end());

/** Returns the user and group IDs printed by a container of this image, run as the requested user if any. */
async function identityIn(image: string, requested: { runAsUser?: { value: bigint }; runAsUsername?: string } = {}) {
  const pod = await attacked.pod('user');
  try {
    const linux = { securityContext: requested };
    return (await attacked.run(pod, { image: { image }, script: 'id -u; id -g', linux })).out;
  } finally {
    await attacked.remove(pod.podSandboxId);
  }
}

const passwd = (flag: string, more: object = {}): FixtureEntry[] => [{ ...file('etc/passwd', ''), flag, ...more }];
const places: [string, FixtureEntry[]][] = [
  ["a link to the host's", [symlink('etc/passwd', hostPasswd)]],
  ["a link out of the root to the host's", [symlink('etc/passwd', outward)]],
  ["a link of its directory to the host's", [symlink('etc', join(hostPasswd, '..'))]],
  ["a link to the host's shadow file", [symlink('etc/passwd', '/etc/shadow')]],
  ['a loop', [symlink('etc/passwd', 'passwd')]],
  ['a pipe', passwd('6')],
  ['/dev/zero', passwd('3', { device: [1, 5] })],
  ['a device that does not exist', passwd('3', { device: [240, 250] })],
  ['a directory', [{ name: 'etc/.wh.passwd', flag: '0' }, directory('etc/passwd')]],
];

for (const [index, [what, entries]] of places.entries()) {
  test(`a user is not looked up in ${what}`, async () => {
    const image = await attacked.image(`place-${index}`, entries, { User: 'leaked' });
    const startedMs = performance.now();
    await assert.rejects(identityIn(image), { code: 'invalid_argument' });
    assert.ok(performance.now() - startedMs < 20_000);
  });
}

test('a device is not opened, because opening one can already affect the host', async () => {
  const image = await attacked.image('device', passwd('3', { device: [240, 250] }), { User: '1000' });
  await assert.rejects(identityIn(image), { code: 'invalid_argument', message: /it is not a file/ });
});

for (const user of ['4294967296', '2147483648', '4294967295', '1000:4294967296', '18446744073709551616', '-1', '0x0'])
  test(`the user ${user} of an image is refused`, async () => {
    const image = await attacked.image(`user-${user.replace(/\W/g, 'x')}`, [], { User: user });
    await assert.rejects(identityIn(image), { code: 'invalid_argument' });
  });

test('requested user ids out of range are refused, and the largest valid one is used', async () => {
  const { image } = attacked.runtime;
  for (const value of [4294967296n, 2147483648n, -1n])
    await assert.rejects(identityIn(image, { runAsUser: { value } }), { code: 'invalid_argument' }, String(value));
  await assert.rejects(identityIn(image, { runAsUsername: '4294967296' }), { code: 'invalid_argument' });
  assert.equal(await identityIn(image, { runAsUser: { value: 2147483647n } }), '2147483647\n0\n');
});
