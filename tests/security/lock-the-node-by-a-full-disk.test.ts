/** A pod fills the node's disk, to keep the node from stopping the pod, recording exits, or freeing space. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isErrno, sleep } from '@podwright/base';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { FullDiskNode } from '../pods/full-disk-node.fixture.ts';
import { exampleImage, forever, podManifest } from '../pods/node.fixture.ts';

const SUBNET = '10.132.32.0/24';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle?.remove());

const FILL_FOR_EVER =
  'i=0; while :; do i=$((i+1)); dd if=/dev/zero of=/e/f$i bs=64k 2>/dev/null; dd if=/dev/zero of=/r$i bs=4k 2>/dev/null; done';

/** Returns a pod whose first container fills an emptyDir, while the second one runs `other`. */
function filler(name: string, script: string, other = 'exec sleep 1000'): string {
  const container = (command: string) =>
    `{image: ${exampleImage}, command: [sh, -c, ${JSON.stringify(command)}], volumeMounts: [{name: e, mountPath: /e}]`;
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: e, emptyDir: {}}]
  containers:
  - ${container(script)}, name: main}
  - ${container(other)}, name: other}
`;
}

/** Adds and removes pods until the signal aborts. A pod whose manifest cannot be written because the disk is full is skipped. */
async function churn(node: FullDiskNode, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const name = `churn${round % 3}`;
    try {
      node.writeManifest(name, podManifest(name, forever));
    } catch (error) {
      assert.ok(isErrno(error, 'ENOSPC'), String(error));
    }
    await sleep(500);
    node.removeManifest(name);
  }
}

for (const fileSystem of ['ext4', 'xfs'] as const) {
  test(`pods that fill an ${fileSystem} disk are evicted, and other pods are neither stopped nor stuck`, async (t) => {
    const node = new FullDiskNode(t, { bundle, subnet: SUBNET, fileSystem });
    await node.start();
    await node.place.loadImage();
    await node.run('keep1', 'keep2');
    const free = node.disk.freeBytes();
    const fills = {
      once: filler('once', 'dd if=/dev/zero of=/e/f bs=64k; exec sleep 1000'),
      ever: filler('ever', FILL_FOR_EVER),
      ends: filler('ends', FILL_FOR_EVER, 'sleep 2; exit 1'),
      hidden: filler('hidden', 'dd if=/dev/zero of=/etc/resolv.conf bs=64k; exec sleep 1000'),
    };
    const stop = new AbortController();
    const churning = churn(node, stop.signal);
    for (const [name, text] of Object.entries(fills)) {
      node.writeManifest(name, text);
      await node.evicted(name);
      await node.place.until(() => node.disk.freeBytes() > free * 0.95);
      node.removeManifest(name);
    }
    stop.abort();
    await churning;
    await node.untilRemoved(...Object.keys(fills), 'churn0', 'churn1', 'churn2');
    for (const name of ['keep1', 'keep2']) {
      const status = (await node.find(name))?.status;
      assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.restartCount], ['Running', 0]);
    }
    await node.run('late');
    await node.stop();
  });
}

test('a pod that uses up all inodes on an ext4 disk is evicted, and others keep running', async (t) => {
  const node = new FullDiskNode(t, { bundle, subnet: SUBNET, fileSystem: 'ext4', mkfsOptions: ['-N', '4000'] });
  await node.start();
  await node.place.loadImage();
  await node.run('keep');
  node.writeManifest('inodes', filler('inodes', 'i=0; while :; do i=$((i+1)); : > /e/$i; done'));
  await node.evicted('inodes');
  node.removeManifest('inodes');
  await node.untilRemoved('inodes');
  assert.ok(await node.areRunning('keep'));
  await node.run('late');
  await node.stop();
});
