/** A node whose root and state directories are reached through symbolic links, like data on a larger disk or under /var/run. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readMounts } from '@podwright/system';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

const SUBNET = '10.132.47.0/24';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle?.remove());

for (const linked of [['root'], ['state'], ['root', 'state']])
  test(`a node with ${linked.join(' and ')} behind a link keeps its pods over a kill, and removes them`, async (context) => {
    const disk = mkdtempSync('/tmp/pwn-disk-');
    const place = new NodePlace(bundle, SUBNET);
    context.after(async () => {
      await place.remove();
      rmSync(disk, { recursive: true, force: true });
    });
    for (const name of linked) {
      mkdirSync(join(disk, name));
      symlinkSync(join(disk, name), place.path(name));
    }
    const first = await place.startDaemon();
    await place.loadImage();
    const manifest = place.file('pod.yaml', podManifest('web', forever));
    await place.ok('run', '--detach', manifest);
    const containerId = async () => (await place.pods())[0]?.status?.containerStatuses?.[0]?.containerID;
    const before = await containerId();
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await place.startDaemon();
    await place.ok('wait', '--for=condition=Ready', 'web');
    assert.equal(await containerId(), before);
    await place.ok('exec', 'web', 'true');
    await place.ok('delete', 'web');
    await place.ok('stop');
    assert.deepEqual(place.leftovers(), []);
    assert.deepEqual(
      readMounts().filter(({ mountPoint }) => mountPoint.startsWith(disk)),
      [],
    );
  });
