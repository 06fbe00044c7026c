/**
 * A pod mounts host paths that are mounted `nosuid`, `nodev`, `noexec` or read-only on the host. Remounting a bind mount clears all flags
 * that are not set again.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { MessageInitShape, MountSchema } from '@podwright/cri';
import { parseMountinfo } from '../../packages/system/src/mountinfo.ts';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const source = join(attacked.runtime.place.directory, 'logs', 'strict');
const below = join(source, 'below');
const readOnly = join(attacked.runtime.place.directory, 'logs', 'read-only');
const free = join(attacked.runtime.place.directory, 'logs', 'free');
const mounted: string[] = [];

before(async () => {
  await attacked.start();
  mountTmpfs(source, 'nosuid,nodev,noexec');
  mountTmpfs(below, 'nosuid,noexec');
  writeFileSync(join(source, 'file'), '');
  mountTmpfs(readOnly, 'ro');
  mountTmpfs(free, 'rw');
});
after(async () => {
  for (const path of mounted.toReversed()) execFileSync('umount', [path]);
  await attacked.end();
});

function mountTmpfs(path: string, options: string): void {
  mkdirSync(path, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=64k,${options}`, 'tmpfs', path]);
  mounted.push(path);
}

const RESTRICTIONS = ['ro', 'nosuid', 'nodev', 'noexec'];

/** Returns the restrictions of the container's mounts, by mount point. */
async function restrictionsIn(handler: string, mounts: MessageInitShape<typeof MountSchema>[]) {
  const pod = await attacked.pod(`mounts-${handler}`, { handler });
  const { out } = await attacked.run(pod, { script: 'cat /proc/self/mountinfo', mounts });
  await attacked.remove(pod.podSandboxId);
  const entries = parseMountinfo(Buffer.from(out)).map(({ mountPoint, options }) => [
    mountPoint,
    RESTRICTIONS.filter((option) => options.includes(option)).join(),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

for (const handler of OCI_RUNTIMES) {
  test(`${handler}: the container's mounts have the restrictions of the host's mounts, with all mount options`, async () => {
    const found = await restrictionsIn(handler, [
      { containerPath: '/writable', hostPath: source },
      { containerPath: '/readonly', hostPath: source, readonly: true },
      { containerPath: '/recursive', hostPath: source, readonly: true, recursiveReadOnly: true },
      { containerPath: '/file', hostPath: join(source, 'file') },
      { containerPath: '/free', hostPath: free },
      { containerPath: '/wanted-writable', hostPath: readOnly },
    ]);
    assert.equal(found['/writable'], 'nosuid,nodev,noexec');
    assert.equal(found['/writable/below'], 'nosuid,noexec');
    assert.equal(found['/readonly'], 'ro,nosuid,nodev,noexec');
    assert.equal(found['/readonly/below'], 'nosuid,noexec');
    assert.equal(found['/recursive'], 'ro,nosuid,nodev,noexec');
    assert.equal(found['/recursive/below'], 'ro,nosuid,noexec');
    assert.equal(found['/file'], 'nosuid,nodev,noexec');
    assert.equal(found['/wanted-writable'], 'ro');
    assert.equal(found['/dev/shm'], 'nosuid,nodev,noexec');
    assert.equal(found['/free'], '', 'a mount without restrictions on the host has none');
  });
}
