/**
 * An image tries to put its own files in the place of the kernel's, which OCI runtimes and the container's processes trust
 * (CVE-2019-16884), or to have device nodes and links made on the host by a link in the place of /dev (CVE-2026-41579 of
 * runc, CVE-2026-47766 of crun).
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode } from '@podwright/base';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { symlink } from '../unpack/layer.fixture.ts';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const hostDirectory = join(attacked.runtime.place.directory, 'logs', 'of-the-host');
const REFUSED = { code: 'invalid_argument' };

before(async () => {
  await attacked.start();
  mkdirSync(join(hostDirectory, 'sub'), { recursive: true });
  writeFileSync(join(hostDirectory, 'sub', 'file'), '');
});
after(() => attacked.end());

/** As deep as any root file system of a container is. */
const outward = '../'.repeat(30);
const links: [string, FixtureEntry[]][] = [
  ['dev-absolute', [symlink('dev', hostDirectory)]],
  ['dev-outward', [symlink('dev', outward + hostDirectory.slice(1))]],
  ['dev-through-another', [symlink('dev', 'other'), symlink('other', hostDirectory)]],
  ['proc-link', [symlink('proc', hostDirectory)]],
  ['sys-link', [symlink('sys', hostDirectory)]],
];
const volumes: [string, FixtureEntry[], string][] = [
  ['volume-proc', [], '/proc'],
  ['volume-proc-sys', [], '/proc/sys'],
  ['volume-attributes', [], '/proc/self/attr'],
  ['volume-dots', [], '/etc/../proc/self/../sys'],
  ['volume-link', [symlink('p', '/proc')], '/p'],
  ['volume-through-link', [symlink('p', 'q'), symlink('q', `${outward}proc`)], '/p/self/attr'],
];

for (const handler of OCI_RUNTIMES) {
  const run = async (image: string) => {
    const pod = await attacked.pod(`kernel-${handler}`, { handler });
    try {
      return await attacked.run(pod, { script: 'true', image: { image } });
    } finally {
      await attacked.remove(pod.podSandboxId);
    }
  };

  for (const [tag, entries] of links) {
    test(`${handler}: the link of the image ${tag} is refused, and nothing is made where it leads`, async () => {
      const image = await attacked.image(`${tag}-${handler}`, entries);
      const outcome = await run(image).catch((error: unknown) => error);
      assert.deepEqual(readdirSync(hostDirectory), ['sub']);
      assert.equal(errorCode(outcome), 'invalid_argument');
    });
  }

  for (const [tag, entries, path] of volumes) {
    test(`${handler}: the volume of the image ${tag} does not replace the kernel's files`, async () => {
      const image = await attacked.image(`${tag}-${handler}`, entries, { Volumes: { [path]: {} } });
      await assert.rejects(run(image), REFUSED);
    });
  }

  test(`${handler}: mounts of a pod do not replace the kernel's files either, but may show the host's`, async () => {
    const pod = await attacked.pod(`mounts-${handler}`, { handler });
    const mount = (containerPath: string, hostPath: string) =>
      attacked.run(pod, { script: 'test -e /proc/self/status', mounts: [{ containerPath, hostPath }] });
    for (const path of ['/proc', '/proc/self/attr', '/proc/thread-self/attr', '/proc/sys', '/proc/1/ns'])
      await assert.rejects(mount(path, join(hostDirectory, 'sub')), REFUSED, path);
    assert.equal((await mount('/proc', '/proc')).exitCode, 0);
    assert.equal((await mount('/proc/meminfo', join(hostDirectory, 'sub', 'file'))).exitCode, 0);
    assert.equal((await mount('/sys', '/sys')).exitCode, 0);
  });
}
