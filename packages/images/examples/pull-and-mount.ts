import { mkdirSync, readdirSync } from 'node:fs';
import { openImages } from '@podwright/images';
import { loadSystem, mountAll, unmountOnce } from '@podwright/system';

const [root = '/var/lib/example-images', reference = 'docker.io/library/busybox:1.36'] = process.argv.slice(2);
const signal = AbortSignal.timeout(300_000);

await using store = await openImages({ root });
const image = await store.images.pull(reference, { signal });
console.log(`${image.repoTags[0]} runs ${image.config.config.Cmd?.join(' ')}`);

// The root file system: a writable snapshot on top of the image's topmost layer. The snapshotter returns the mounts, and the caller mounts
// them.
const system = loadSystem();
const target = `${root}/rootfs`;
mkdirSync(target, { recursive: true });
mountAll(system, await store.snapshotter.prepare('my-container', image.chainId), target);
console.log(`root file system: ${readdirSync(target).join(', ')}`);
unmountOnce(system, target);
await store.snapshotter.remove('my-container');

for (const { id, sizeBytes } of store.images.list()) console.log(`${id}: ${sizeBytes} bytes, compressed`);
await store.images.remove(reference); // also removes the content that only this image needed
await store.images.collectGarbage(); // also needed after removing the last snapshot of a removed image
console.log(
  `remaining images: ${store.images.list().length}, remaining snapshots: ${(await store.snapshotter.list()).length}`,
);
