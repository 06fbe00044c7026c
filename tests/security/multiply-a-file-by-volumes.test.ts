/** An image declares the same directory as a volume many times: with a copy for each volume, they would fill the disk. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { measureTree, Trash } from '@podwright/host';
import { ContainerFiles } from '../../packages/runtime/src/containers/container-files.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { rejects } from '../images/rejects.ts';
import { directory, file, symlink } from '../unpack/layer.fixture.ts';
import { AttackedRuntime, OCI_RUNTIMES } from './attacked-runtime.fixture.ts';

const { signal } = new AbortController();
const FILE_BYTES = 2 << 20;
const LINKS = 20;
const attacked = new AttackedRuntime();
before(() => attacked.start());
after(() => attacked.end());

test('a directory with many links, each a volume, is copied once, and all links have its content', async () => {
  const links = Array.from({ length: LINKS }, (_, index) => `a${index}`);
  const entries = [
    directory('data'),
    file('data/big', randomBytes(FILE_BYTES / 2).toString('hex')),
    ...links.map((name) => symlink(name, '/data')),
  ];
  const volumes = Object.fromEntries(['data', ...links].map((name) => [`/${name}`, {}]));
  const image = await attacked.image('links', entries, { Volumes: volumes });
  for (const handler of OCI_RUNTIMES) {
    const pod = await attacked.pod(`links-${handler}`, { handler });
    const script = 'echo kept > /a0/new; ls -l /a7/big | wc -l; cat /data/new /a19/new; sleep 1000';
    const containerId = await attacked.begin(pod, { image: { image }, script });
    const { root } = attacked.runtime.place.options;
    const { sizeBytes } = (await measureTree(join(root!, 'containers', containerId), { signal })).usage;
    assert.ok(sizeBytes < 2 * FILE_BYTES, `${sizeBytes} bytes`);
    const cmd = ['sh', '-c', 'until [ -e /data/new ]; do :; done; stat -c %s /a7/big; cat /data/new /a19/new'];
    const { stdout } = await attacked.runtime.cri.runtime.execSync({ containerId, cmd, timeout: 30n });
    assert.equal(String(stdout), `${FILE_BYTES}\nkept\nkept\n`);
    await attacked.remove(pod.podSandboxId);
  }
});

test('nested volumes, which are copied separately, leave part of the disk free', async (t) => {
  const disk = mkdtempSync('/tmp/pwt-volumes-');
  const system = loadSystem();
  const diskBytes = 64 << 20;
  mountAll(system, [{ type: 'tmpfs', source: 'small', options: [`size=${diskBytes}`] }], disk);
  t.after(() => {
    unmountTree(system, disk);
    rmSync(disk, { recursive: true });
  });
  const [root, state] = [join(disk, 'root'), join(disk, 'state')];
  const trash = new Trash(join(root, 'trash'), silentLogger);
  const files = ContainerFiles.open({
    system,
    snapshotter: { list: async () => [] } as never,
    trash,
    stateTrash: trash,
    root,
    state,
  });
  const id = 'ab'.repeat(32);
  const paths = Array.from({ length: 50 }, (_, index) => '/d'.repeat(index + 1));
  mkdirSync(join(files.rootfs(id), paths.at(-1)!), { recursive: true });
  writeFileSync(join(files.rootfs(id), paths.at(-1)!, 'big'), randomBytes(FILE_BYTES));
  await rejects(files.makeVolumes(id, { paths, signal }), 'resource_exhausted', /make volume .*free some space/);
  const { bavail, bsize } = statfsSync(disk);
  assert.ok(bavail * bsize > diskBytes * 0.03, `${bavail * bsize} bytes are left`);
  await trash.close();
});
