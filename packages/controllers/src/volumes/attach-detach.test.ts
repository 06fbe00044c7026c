import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentName, type Node, type Pod, uniqueVolumeName } from '@podwright/kube-api';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUME_ATTACHMENTS,
} from '@podwright/kube-client';
import type { Attachment, Claim, Volume } from '../objects/storage.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { attachDetachController } from './attach-detach.ts';

const DISK = { driver: 'disk.example.com', handle: 'h1' };
const NAME = attachmentName(DISK, 'n');

/**
 * A bound claim, the pod on node `n` that uses it, and the attach/detach controller. `attacher` plays the CSI driver's attacher sidecar.
 */
function open() {
  const place = new TestPlace(attachDetachController);
  const { client } = place;
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  const putNode = (volumesInUse: string[]) =>
    client.put<Node>(NODES, { metadata: { name: 'n', uid: 'n', annotations }, status: { volumesInUse } } as Node);
  putNode([]);
  client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, {
    metadata: { namespace: 'shop', name: 'data', uid: 'c' },
    spec: { volumeName: 'pv' },
  });
  client.put<Volume>(PERSISTENT_VOLUMES, {
    metadata: { name: 'pv' },
    spec: {
      csi: { driver: DISK.driver, volumeHandle: DISK.handle },
      accessModes: ['ReadWriteOnce'],
      claimRef: { uid: 'c' },
    },
  });
  client.put<Pod>(PODS, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'web', uid: 'p' } },
    spec: { nodeName: 'n', containers: [], volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
  });
  const attachment = () => client.stored<Attachment>(VOLUME_ATTACHMENTS, { name: NAME });
  const attacher = (status: NonNullable<Attachment['status']>) =>
    client.put<Attachment>(VOLUME_ATTACHMENTS, { ...attachment()!, status });
  const listed = () => client.stored<Node>(NODES, { name: 'n' })?.status?.volumesAttached?.map(({ name }) => name);
  return { place, client, putNode, attachment, attacher, listed };
}

test('a volume is attached for a pod, listed in its node’s status, and detached once the pod is gone', async () => {
  const { place, client, putNode, attachment, attacher, listed } = open();
  await using _place = place;
  await place.until(() => attachment() !== undefined);
  assert.deepEqual(attachment()?.spec, {
    attacher: 'disk.example.com',
    nodeName: 'n',
    source: { persistentVolumeName: 'pv' },
  });
  attacher({ attached: false, attachError: { message: 'rpc error: no such disk' } });
  await place.until(() => place.events('FailedAttachVolume').length === 1);
  assert.deepEqual(place.events('FailedAttachVolume'), [
    'AttachVolume.Attach failed for volume "pv" : rpc error: no such disk',
  ]);
  attacher({ attached: true });
  await place.until(() => listed()?.length === 1);
  assert.deepEqual(listed(), [uniqueVolumeName(DISK)]);
  await place.until(() => place.events('SuccessfulAttachVolume').length === 1);
  putNode([uniqueVolumeName(DISK)]);
  client.remove(PODS, { namespace: 'shop', name: 'web' });
  await place.until(() => client.stored(PODS, { namespace: 'shop', name: 'web' }) === undefined);
  assert.notEqual(attachment(), undefined);
  putNode([]);
  await place.until(() => attachment() === undefined);
  assert.deepEqual(listed() ?? [], []);
});

test('events about a deleted pod are forgotten while another pod needs the volume', async () => {
  const { place, client, attachment, attacher } = open();
  await using _place = place;
  const pod = client.stored<Pod>(PODS, { namespace: 'shop', name: 'web' })!;
  const other = client.put<Pod>(PODS, { ...pod, metadata: { namespace: 'shop', name: 'other', uid: 'o' } });
  await place.until(() => attachment() !== undefined);
  attacher({ attached: true });
  const count = () => place.events('SuccessfulAttachVolume').length;
  await place.until(() => count() === 2);
  client.remove(PODS, { namespace: 'shop', name: 'other' });
  client.put<Pod>(PODS, { ...pod, metadata: { ...pod.metadata, name: 'third', uid: 't' } });
  await place.until(() => count() === 3);
  client.put<Pod>(PODS, other); // with the same UID, which shows that nothing was remembered
  await client.waitForCalls({ verb: 'patch', plural: EVENTS.plural }); // the same event again
});
