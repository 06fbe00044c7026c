/**
 * An image tries to replace the kernel's files, which OCI runtimes and container processes trust (CVE-2019-16884), or to have device nodes
 * and links created on the host, using a link in place of /dev (CVE-2026-41579 in runc, CVE-2026-47766 in crun).
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode } from '@podwright/base';
import type { FixtureEntry } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { directory, symlink } from '../unpack/layer.fixture.ts';
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

/** A relative path that leads out of any container's root file system. */
const outward = '../'.repeat(30);
const links: [string, FixtureEntry[]][] = [
  ['dev-absolute', [symlink('dev', hostDirectory)]],
  ['dev-outward', [symlink('dev', outward + hostDirectory.slice(1))]],
  ['dev-through-another', [symlink('dev', 'other'), symlink('other', hostDirectory)]],
  ['proc-link', [symlink('proc', hostDirectory)]],
  ['sys-link', [symlink('sys', hostDirectory)]],
];
const volumes: [string, FixtureEntry[], ...string[]][] = [
  ['volume-proc', [], '/proc'],
  ['volume-proc-sys', [], '/proc/sys'],
  ['volume-attributes', [], '/proc/self/attr'],
  ['volume-dots', [], '/etc/../proc/self/../sys'],
  ['volume-link', [symlink('p', '/proc')], '/p'],
  ['volume-through-link', [symlink('p', 'q'), symlink('q', `${outward}proc`)], '/p/self/attr'],
  ['volume-root-by-a-link', [symlink('p', '/')], '/p'],
  ['volume-dev-by-a-link', [directory('v'), symlink('v/p', '/dev')], '/v/p'],
  ['volume-in-a-volume', [directory('v'), symlink('v/p', '/dev')], '/v', '/v/p'],
  ['volume-pts-by-a-link', [symlink('p', '/dev')], '/p/pts'],
  ['volume-sys-by-a-link', [symlink('p', '/sys')], '/p'],
  ['volume-cgroup-by-a-link', [symlink('p', '../sys/fs')], '/p/cgroup'],
];

/** Symbolic links that an image's volume has in place of /dev/null, which OCI runtimes open as root. */
const nullLinks: [string, string][] = [
  ['null-to-a-descriptor', '/proc/self/fd/5'],
  ['null-to-a-sysctl', '/proc/sys/kernel/printk_ratelimit_burst'],
];

/** Directories in which a link from another container or from the image could redirect one of the pod's mounts. */
const nested = ['/', '/dev', '/dev/pts', '/proc', '/sys', '/sys/fs/cgroup', '/etc', '../etc'];

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
    test(`${handler}: the link of the image ${tag} is refused, and nothing is created at its target`, async () => {
      const image = await attacked.image(`${tag}-${handler}`, entries);
      const outcome = await run(image).catch((error: unknown) => error);
      assert.deepEqual(readdirSync(hostDirectory), ['sub']);
      assert.equal(errorCode(outcome), 'invalid_argument');
    });
  }

  for (const [tag, entries, ...paths] of volumes) {
    test(`${handler}: the volume of the image ${tag} does not replace the kernel's files`, async () => {
      const image = await attacked.image(`${tag}-${handler}`, entries, {
        Volumes: Object.fromEntries(paths.map((path) => [path, {}])),
      });
      await assert.rejects(run(image), REFUSED);
    });
  }

  for (const [tag, target] of nullLinks) {
    test(`${handler}: a volume in /dev with the link ${tag} does not replace the kernel's devices`, async () => {
      const entries = [directory('dev'), symlink('dev/null', target)];
      const image = await attacked.image(`${tag}-${handler}`, entries, {
        Volumes: { '/dev': {}, '/dev/pts': {}, '/sys/fs/cgroup': {} },
      });
      const pod = await attacked.pod(`${tag}-${handler}`, { handler });
      const script =
        'for file in /dev/null /dev/zero /proc/self/fd/0; do readlink -f $file; done; grep -c " /dev/pts devpts" /proc/mounts';
      const { out } = await attacked.run(pod, { script, image: { image } });
      assert.equal(out, '/dev/null\n/dev/zero\n/dev/null\n1\n');
      await attacked.remove(pod.podSandboxId);
    });
  }

  test(`${handler}: a link in one mount of a pod does not redirect another one`, async () => {
    const image = await attacked.image(`nested-${handler}`, [], { Volumes: { '/e/v': {} } });
    const pod = await attacked.pod(`nested-${handler}`, { handler });
    const shared = join(hostDirectory, `shared-${handler}`);
    const inside = join(hostDirectory, 'sub');
    mkdirSync(join(shared, 'there'), { recursive: true });
    const both = [
      { containerPath: '/e', hostPath: shared },
      { containerPath: '/e/p', hostPath: inside },
    ];
    for (const target of nested) {
      symlinkSync(target, join(shared, 'p'));
      await assert.rejects(attacked.run(pod, { script: 'true', mounts: both }), REFUSED, target);
      renameSync(join(shared, 'p'), join(shared, 'v'));
      const volume = { script: 'true', image: { image }, mounts: both.slice(0, 1) };
      await assert.rejects(attacked.run(pod, volume), REFUSED, `volume at ${target}`);
      rmSync(join(shared, 'v'));
    }
    symlinkSync('there', join(shared, 'p'));
    const { out } = await attacked.run(pod, { script: 'ls /e/there /e/p', mounts: both });
    assert.equal(out, '/e/p:\nfile\n\n/e/there:\nfile\n');
    await attacked.remove(pod.podSandboxId);
    rmSync(shared, { recursive: true });
  });

  test(`${handler}: a link that is created between create and start does not redirect a mount either`, async () => {
    const pod = await attacked.pod(`late-${handler}`, { handler });
    const shared = join(hostDirectory, `late-${handler}`);
    const inside = join(hostDirectory, 'sub');
    mkdirSync(join(shared, 'p'), { recursive: true });
    const mounts = [
      { containerPath: '/e', hostPath: shared },
      { containerPath: '/e/p', hostPath: inside },
    ];
    const { containerId } = await attacked.create(pod, { script: 'true', mounts });
    rmSync(join(shared, 'p'), { recursive: true });
    symlinkSync('/etc', join(shared, 'p'));
    const start = attacked.runtime.cri.runtime.startContainer({ containerId });
    await assert.rejects(start, { message: /mount at \/e\/p: the path was changed/ });
    await attacked.remove(pod.podSandboxId);
    rmSync(shared, { recursive: true });
  });

  test(`${handler}: links of an image do not redirect a pod's mounts to the kernel's file systems`, async () => {
    const links = ['dev', 'sys', 'dev/pts', ''].map((target, index) => symlink(`l${index}`, `/${target}`));
    const image = await attacked.image(`placed-${handler}`, [
      ...links,
      symlink('shm', '/dev/shm'),
      directory('b'),
      symlink('b/c', '/e'),
    ]);
    const pod = await attacked.pod(`placed-${handler}`, { handler });
    const hostPath = join(hostDirectory, 'sub');
    const run = (...paths: string[]) => {
      const mounts = paths.map((containerPath) => ({ containerPath, hostPath }));
      return attacked.run(pod, { script: 'ls /dev/shm', image: { image }, mounts });
    };
    for (const path of ['/l0', '/l0/null', '/l1', '/l1/fs/cgroup', '/l2', '/l3', '/', '/dev'])
      await assert.rejects(run(path), REFUSED, path);
    assert.equal((await run('/shm')).out, 'file\n');
    // /b/c leads to /e, so it must be mounted before /e/p, which is inside it
    symlinkSync('/etc', join(hostPath, 'p'));
    await assert.rejects(run('/b/c', '/e/p'), REFUSED).finally(() => rmSync(join(hostPath, 'p')));
    await attacked.remove(pod.podSandboxId);
  });

  test(`${handler}: mounts of a pod do not replace the kernel's files either, but may mount the host's`, async () => {
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
