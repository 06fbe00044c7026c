import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '@podwright/kube-client';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { directoryProvisioner } from './directory-provisioner.ts';
import { volumeBinder } from './volume-binder.ts';

/** The binder and the provisioner of the node `n`. `directories` has the existing directories of volumes. */
function open() {
  const directories = new Set<string>();
  const provisioner = directoryProvisioner({
    directory: '/volumes',
    nodeName: 'n',
    create: async (path) => void directories.add(path),
    remove: async (path) => void directories.delete(path),
  });
  const place = new TestPlace(volumeBinder, provisioner);
  const claim = (name: string) => place.client.stored<Claim>(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name });
  const put = (name: string, annotations: Record<string, string> = {}) => {
    const spec = {
      storageClassName: 'standard',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    };
    const metadata = { namespace: 'shop', name, uid: `uid-${name}`, annotations };
    return place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, { metadata, spec });
  };
  return { place, directories, claim, put };
}

test('a claim gets a directory of the node once the scheduler has selected it, and loses it with its removal', async () => {
  const { place, directories, claim, put } = open();
  await using _place = place;
  const standard = () => place.client.stored<StorageClass>(STORAGE_CLASSES, { name: 'standard' });
  await place.until(() => standard() !== undefined);
  assert.equal(standard()?.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'], 'true');
  put('data');
  await place.until(() => claim('data')?.status?.phase === 'Pending');
  assert.deepEqual([...directories], []);
  put('data', { 'volume.kubernetes.io/selected-node': 'n' });
  await place.until(() => claim('data')?.status?.phase === 'Bound');
  assert.deepEqual([...directories], ['/volumes/pvc-uid-data']);
  const volume = () => place.client.stored<Volume>(PERSISTENT_VOLUMES, { name: 'pvc-uid-data' });
  await place.until(() => volume()?.status?.phase === 'Bound');
  assert.deepEqual(claim('data')?.status, {
    phase: 'Bound',
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
  });
  place.client.remove(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: 'data' });
  await place.until(() => volume() === undefined);
  assert.deepEqual([...directories], []);
});

test('claims for other nodes and volumes of other provisioners are left alone', async () => {
  const { place, directories, claim, put } = open();
  await using _place = place;
  place.client.put<Volume>(PERSISTENT_VOLUMES, {
    metadata: { name: 'pvc-old' },
    spec: { claimRef: { namespace: 'shop', name: 'old', uid: 'old' }, persistentVolumeReclaimPolicy: 'Delete' },
  });
  await place.until(
    () => place.client.stored<Volume>(PERSISTENT_VOLUMES, { name: 'pvc-old' })?.status?.phase === 'Released',
  );
  put('far', { 'volume.kubernetes.io/selected-node': 'other' });
  await place.until(
    () => claim('far')?.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] !== undefined,
  );
  put('near', { 'volume.kubernetes.io/selected-node': 'n' });
  await place.until(() => claim('near')?.status?.phase === 'Bound');
  assert.deepEqual([...directories], ['/volumes/pvc-uid-near']);
  assert.notEqual(place.client.stored(PERSISTENT_VOLUMES, { name: 'pvc-old' }), undefined);
});

test('a volume that is being deleted is released with its claim, so that nothing protects it any longer', async () => {
  const { place } = open();
  await using _place = place;
  const claimRef = { namespace: 'shop', name: 'old', uid: 'old' };
  place.client.put<Volume>(PERSISTENT_VOLUMES, {
    metadata: { name: 'disk', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes.io/pv-protection'] },
    spec: { claimRef, persistentVolumeReclaimPolicy: 'Retain' },
    status: { phase: 'Bound' },
  });
  await place.until(
    () => place.client.stored<Volume>(PERSISTENT_VOLUMES, { name: 'disk' })?.status?.phase === 'Released',
  );
});
