/** A pod fills the disk while the node is down after a crash, so that the node cannot start, and so never evicts the pod. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lockRoot } from '../../packages/kubelet/src/node/root-lock.ts';
import { SmallDisk } from '../fixtures/small-disk.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { FullDiskNode } from '../pods/full-disk-node.fixture.ts';
import { exampleImage } from '../pods/node.fixture.ts';

const SUBNET = '10.132.31.0/24';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle?.remove());

/** Returns a pod that fills the disk once the file `go` exists in its emptyDir, and grabs any space that becomes free. */
function filler(fill: string): string {
  const script = `until [ -e /e/go ]; do sleep 0.1; done; mkdir /e/d; ${fill}`;
  return `apiVersion: v1
kind: Pod
metadata: {name: filler}
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{name: e, emptyDir: {}}]
  containers:
  - {name: main, image: ${exampleImage}, command: [sh, -c, '${script}'], volumeMounts: [{name: e, mountPath: /e}]}
`;
}

/** Whether a server listens on each of the sockets. Checks this because a killed node leaves its sockets behind. */
async function answer(sockets: string[]): Promise<boolean> {
  const results = await Promise.allSettled(sockets.map((path) => once(connect(path), 'connect')));
  return results.every(({ status }) => status === 'fulfilled');
}

/** Returns a script that fills all free blocks, including the last ones, which only files smaller than a page fit into. */
const blocks = (directory: string) =>
  `i=0; while :; do cat /dev/zero >> ${directory}/f; while echo x > ${directory}/s$i; do i=$((i+1)); done; sleep 0.1; done 2>/dev/null`;
const INODES = 'i=0; while :; do i=$((i+1)); touch /e/d/$i || sleep 0.1; done 2>/dev/null';
const CASES = [
  { lacks: 'inode', fileSystem: 'ext4', fill: INODES, mkfsOptions: ['-N', '1000'] },
  { lacks: 'block', fileSystem: 'ext4', fill: blocks('/e/d') },
  { lacks: 'block for layers', fileSystem: 'ext4', fill: blocks('') },
  { lacks: 'block', fileSystem: 'xfs', fill: blocks('/e/d') },
] as const;

for (const { lacks, fileSystem, fill, ...disk } of CASES) {
  const mkfsOptions = 'mkfsOptions' in disk ? [...disk.mkfsOptions] : [];
  test(`a node that was killed starts on an ${fileSystem} disk where a pod has left no ${lacks}, and evicts the pod`, async (t) => {
    const node = new FullDiskNode(t, { bundle, subnet: SUBNET, fileSystem, mkfsOptions });
    await node.start();
    await node.place.loadImage();
    await node.run('keep1', 'keep2');
    const [bytes, inodes] = [node.disk.freeBytes(), node.disk.freeInodes()];
    node.writeManifest('filler', filler(fill));
    await node.place.until(() => node.areRunning('filler'));
    const uid = (await node.find('filler'))!.metadata.uid;
    await node.kill();
    // as after an OCI runtime update or a reboot: startup tries out the OCI runtimes, and cannot save the results
    rmSync(node.place.path('root/runtime/host'), { recursive: true });
    writeFileSync(node.place.path('root/kubelet/pods', uid, 'volumes/kubernetes.io~empty-dir/e/go'), '');
    await node.place.until(() => node.disk.isFull());
    await node.start();
    await assert.rejects(lockRoot(node.place.path('root/kubelet')), { code: 'already_exists' });
    await node.evicted('filler');
    await node.place.until(() => node.disk.freeBytes() > bytes * 0.9 && node.disk.freeInodes() > inodes * 0.9);
    await node.place.until(async () => !/DiskPressure/.test(await node.place.ok('status')));
    const sockets = ['device-plugins', 'pod-resources'].map((name) =>
      node.place.path('root/kubelet', name, 'kubelet.sock'),
    );
    await node.place.until(() => answer(sockets));
    await node.run('late');
    for (const name of ['keep1', 'keep2']) {
      const status = (await node.find(name))?.status;
      assert.deepEqual([status?.phase, status?.containerStatuses?.[0]?.restartCount], ['Running', 0]);
    }
    await node.stop();
  });
}

test('if several kubelets start at once on a disk without free inodes, one gets the root directory', async (t) => {
  const directory = mkdtempSync('/tmp/pwd-root-');
  const disk = new SmallDisk(join(directory, 'disk'), 'ext4', ['-N', '100']);
  t.after(() => {
    disk.remove();
    rmSync(directory, { recursive: true });
  });
  const [root, link] = [join(disk.path, 'root'), join(directory, 'link')];
  mkdirSync(root);
  symlinkSync(root, link);
  disk.fillInodes();
  for (let round = 0; round < 2; round++) {
    const tries = await Promise.allSettled([root, link, root, link].map((path) => lockRoot(path)));
    const held = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    assert.equal(held.length, 1, JSON.stringify(tries));
    await held[0]!();
  }
});
