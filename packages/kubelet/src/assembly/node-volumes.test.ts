import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from '@podwright/kube-api';
import { VolumesInUse } from '@podwright/volumes';
import { NodeVolumes } from './node-volumes.ts';

const version = (resourceVersion: string, volumesInUse: string[], attached: string[]): Node => ({
  metadata: { name: 'n', resourceVersion },
  status: { volumesInUse, volumesAttached: attached.map((name) => ({ name })) },
});

test('no volumes are reported in use until an earlier kubelet’s leftover volumes have been read', () => {
  const inUse = new VolumesInUse();
  const volumes = new NodeVolumes(inUse);
  inUse.keep('v');
  assert.equal(volumes.inUse(), undefined);
  inUse.loaded();
  assert.deepEqual(volumes.inUse(), ['v']);
});

test('an object received by a watch before the API server was restored from a backup is ignored', async () => {
  const inUse = new VolumesInUse(() => undefined);
  const volumes = new NodeVolumes(inUse);
  inUse.request('/pods/u/v', 'v', { attachable: true });
  const old = version('100', ['v'], ['v']);
  volumes.known(old);
  await inUse.untilAttached('v', new AbortController().signal);
  volumes.restored(old);
  let isAttached = false;
  const attached = inUse.untilAttached('v', new AbortController().signal).then(() => {
    isAttached = true;
  });
  for (const node of [old, version('80', ['v'], [])]) {
    volumes.known(node);
    volumes.seen(old);
    await sleep(150);
    assert.equal(isAttached, false);
  }
  volumes.seen(version('81', ['v'], ['v']));
  await attached;
});

test('a mount waits until a single version of the node object has the volume both in use and attached', async () => {
  const inUse = new VolumesInUse(() => undefined);
  const volumes = new NodeVolumes(inUse);
  inUse.request('/pods/u/v', 'v', { attachable: true });
  volumes.known(version('10', [], ['v']));
  let isAttached = false;
  const attached = inUse.untilAttached('v', new AbortController().signal).then(() => {
    isAttached = true;
  });
  for (const node of [
    version('11', ['v'], []), // it was being detached before it came into use
    version('9', ['v'], ['v']), // an older version, which arrives late
  ]) {
    volumes.seen(node);
    await sleep(150); // longer than the interval of reports
    assert.equal(isAttached, false);
  }
  volumes.known(version('12', ['v'], [])); // a response, which does not contain the attached volumes
  volumes.seen(version('12', ['v'], ['v']));
  await attached;
});
