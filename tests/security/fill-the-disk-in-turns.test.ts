/** A pod keeps filling and freeing the node's disk, so that other pods are evicted instead, or the node stops accepting pods. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { FullDiskNode } from '../pods/full-disk-node.fixture.ts';
import { exampleImage } from '../pods/node.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle?.remove());

function pod(name: string, script: string): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: e, emptyDir: {}}]
  containers:
  - {name: main, image: ${exampleImage}, command: [sh, -c, ${JSON.stringify(script)}], volumeMounts: [{name: e, mountPath: /e}]}
`;
}

const FILL = 'fallocate -l 200M /e/f; dd if=/dev/zero of=/e/g bs=64k 2>/dev/null';
const TURNS = {
  slow: `while :; do for h in 0.9 1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.8; do ${FILL}; sleep $h; rm /e/f /e/g; sleep 2.5; done; done`,
  fast: `while :; do ${FILL}; sleep 0.3; rm /e/f /e/g; sleep 0.3; done`,
};

test('a pod that alternately fills and frees the disk is evicted, and no other pod is', async (t) => {
  const node = new FullDiskNode(t, { bundle, subnet: '10.132.39.0/24', fileSystem: 'ext4' });
  await node.start();
  await node.place.loadImage();
  const others = ['other1', 'other2', 'other3'];
  for (const name of others)
    node.writeManifest(name, pod(name, 'dd if=/dev/zero of=/e/x bs=1k count=50; exec sleep 1000'));
  await node.place.until(() => node.areRunning(...others));
  for (const [name, script] of Object.entries(TURNS)) {
    node.writeManifest(name, pod(name, script));
    await node.evicted(name);
    node.removeManifest(name);
    await node.untilRemoved(name);
    assert.ok(await node.areRunning(...others));
  }
  await node.run('late');
  await node.stop();
});
