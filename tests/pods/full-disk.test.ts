/** Other files fill the disk that holds a node's root directory. Requires root, mkfs.ext4 and mkfs.xfs. */
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { FullDiskNode } from './full-disk-node.fixture.ts';

const SUBNET = '10.132.30.0/24';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle?.remove());

for (const fileSystem of ['ext4', 'xfs'] as const) {
  test(`a node on an ${fileSystem} disk that is full starts, removes pods and stops, and recovers once there is space`, async (t) => {
    const node = new FullDiskNode(t, { bundle, subnet: SUBNET, fileSystem });
    await node.start();
    await node.place.loadImage();
    await node.run('first', 'second', 'third');
    await node.kill();
    node.disk.fill();
    await node.start();
    node.removeManifest('first');
    await node.untilRemoved('first');
    await node.evicted('second');
    await node.stop();
    await node.start();
    await node.place.until(() => {
      node.disk.fill(); // also the space of the image, which the node removes because no pod uses it yet
      return node.isEvicted('third');
    });
    node.disk.makeRoom();
    await node.place.until(async () => !/DiskPressure/.test(await node.place.ok('status')));
    await node.place.until(() => !existsSync(node.place.path('state/records.journal')));
    await node.place.loadImage();
    await node.run('late');
    await node.stop();
  });
}
