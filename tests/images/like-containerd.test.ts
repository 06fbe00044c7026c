/**
 * An image with unusual layers, pulled by containerd and by Podwright from the same registry, must result in the same status and the same
 * file tree.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { Containerd } from '../cri/containerd.fixture.ts';
import { describeTree } from '../snapshots/describe-tree.ts';
import { directory, file, hardLink, symlink } from '../unpack/layer.fixture.ts';
import { DockerRegistry } from './docker-registry.ts';
import { openImageRoom, scratch } from './image-room.ts';
import { LayoutDirectory } from './layout-directory.ts';
import { addImage, packLayer } from './made-image.ts';

const system = loadSystem();
const { signal } = new AbortController();

const binary = { 'SCHILY.xattr.user.probe': Buffer.from([0, 255, 10, 61]) };
const capability = { 'SCHILY.xattr.security.capability': Buffer.from(`0100000200200000${'00'.repeat(12)}`, 'hex') };
/** Attributes of a file, repeated in the tar header of its hard link as tar programs do. */
const setuid = { mode: 0o4755, uid: 5, mtime: 9 };

const layers: FixtureEntry[][] = [
  [
    directory('./'),
    ...['usr', 'usr/lib', 'opaque', 'opaque/sub', 'was-dir', 'gone-dir'].map((name) => directory(name)),
    ...['usr/lib/a', 'opaque/old', 'opaque/sub/deep', 'was-file', 'was-dir/in', 'gone', 'gone-dir/x'].map((name) =>
      file(name, name),
    ),
    symlink('lib', 'usr/lib'),
    directory('d', { mode: 0o1777, mtime: 5, uid: 7, gid: 8, pax: binary }),
    directory('d/sub'),
    ...['d/2', 'd/sub/x', 'd/sub2'].map((name) => file(name, name, { mtime: 2_000_000_000, gid: 3_000 })),
    file('d/1', 'one', setuid),
    { ...hardLink('d/hard', 'd/1'), ...setuid },
    symlink('was-link', 'd'),
    symlink('dangling', 'nowhere/at'),
    { name: 'null', flag: '3', device: [1, 3], mode: 0o666 },
    { name: 'disk', flag: '4', device: [259, 65_537], mode: 0o660, gid: 6 },
    { name: 'pipe', flag: '6', mode: 0o600, uid: 1 },
    file('capable', 'x', { mode: 0o755, pax: capability }),
    file('owner', 'x', { pax: { uid: '3000000000', gid: '2097152' } }),
  ],
  [
    file('lib/through', 'below a link of the layer below'),
    ...['.wh.gone', '.wh.gone-dir', 'd/.wh.2', 'opaque/.wh..wh..opq'].map((name) => file(name)),
    file('opaque/new', 'new'),
    directory('was-file'),
    file('was-file/now', 'a directory'),
    file('was-dir', 'a file'),
    directory('was-link'),
    file('was-link/x', 'x'),
    file('capable', 'replaced', { mode: 0o755 }),
    symlink('d/sub2', '../usr'),
    file('implicit/parents/here', 'x'),
  ],
  [
    directory('gone-dir', { mtime: 44 }),
    file('gone-dir/y', 'y'),
    file('gone', 'again'),
    file('d/sub/.wh..wh..opq'),
    file('opaque/sub/new', 'n'),
    symlink('was-file', 'd'),
    file('.wh.implicit'),
    file('usr/lib/b', 'b'),
  ],
];

test('an image with unusual layers is identical in containerd and Podwright', async (t) => {
  const root = await scratch(t);
  await using registry = await DockerRegistry.start(root);
  const name = `${registry.host}/made/odd:1`;
  push(join(root, 'layout'), name);
  await using containerd = await Containerd.start();
  const cri = await connectCri({ runtimeEndpoint: containerd.endpoint, logger: silentLogger });
  t.after(() => cri.close());
  const { imageRef } = await cri.image.pullImage({ image: { image: name } });
  const theirs = (await cri.image.imageStatus({ image: { image: name } })).image!;
  await using room = await openImageRoom(join(root, 'room'));
  const ours = await room.images.pull(name, { signal });
  assert.deepEqual(
    [ours.id, ours.id, ours.repoTags, ours.repoDigests, BigInt(ours.sizeBytes)],
    [imageRef, theirs.id, theirs.repoTags, theirs.repoDigests, theirs.size],
  );
  const [left, right] = ['ours', 'theirs'].map((side) => join(root, side)) as [string, string];
  for (const target of [left, right]) mkdirSync(target);
  try {
    mountAll(system, await room.snapshotter.view('view', ours.chainId), left);
    const address = containerd.endpoint.replace('unix://', '');
    execFileSync('ctr', ['-a', address, '-n', 'k8s.io', 'images', 'mount', name, right], { stdio: 'pipe' });
    assert.deepEqual(tree(left), tree(right));
  } finally {
    for (const target of [left, right]) unmountTree(system, target);
  }
});

function push(path: string, name: string): void {
  const layout = new LayoutDirectory(path);
  const compressed = layers.map((entries, index) => packLayer(tarArchive(entries), index === 1 ? 'tar' : 'gzip'));
  const { manifest } = addImage(layout, { tag: '1', layers: compressed });
  layout.writeIndex([{ ...manifest, annotations: { 'org.opencontainers.image.ref.name': '1' } }]);
  const copy = ['copy', '-q', '--dest-tls-verify=false', '--preserve-digests'];
  execFileSync('skopeo', [...copy, `oci:${path}:1`, `docker://${name}`], { stdio: 'pipe' });
}

/** Describes a tree, omitting directories' mtimes: in containerd, they become the time of unpacking if a later layer adds entries. */
function tree(path: string): string[] {
  return describeTree(path, system).map(({ line, mtimeMs }) => {
    const isDirectory = line.split(' | ')[2]?.startsWith('4');
    return isDirectory ? line : `${line} at ${mtimeMs}`;
  });
}
