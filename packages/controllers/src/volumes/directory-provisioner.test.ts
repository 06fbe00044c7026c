import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raceAbort, withTimeout } from '@podwright/base';
import { EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '@podwright/kube-client';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { directoryProvisioner } from './directory-provisioner.ts';
import { volumeBinder } from './volume-binder.ts';

const ON_THIS_NODE = [{ matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['n'] }] }];

/** The volume binder and the directory provisioner of node `n`. `directories` contains the existing volume directories. */
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

test('a claim gets a directory on the node once the scheduler selects the node, removed along with the claim', async () => {
  const { place, directories, claim, put } = open();
  await using _place = place;
  const standard = () => place.client.stored<StorageClass>(STORAGE_CLASSES, { name: 'standard' });
  await place.until(() => standard() !== undefined);
  assert.equal(standard()?.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'], 'true');
  assert.deepEqual(standard()?.allowedTopologies, ON_THIS_NODE);
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

test('the default class of an earlier start is restricted to this node', async () => {
  const { place } = open();
  place.client.put<StorageClass>(STORAGE_CLASSES, {
    metadata: { name: 'standard' },
    ...{ provisioner: 'podwright.dev/directory', volumeBindingMode: 'WaitForFirstConsumer' },
  });
  await using _place = place;
  const standard = () => place.client.stored<StorageClass>(STORAGE_CLASSES, { name: 'standard' });
  await place.until(() => standard()?.allowedTopologies !== undefined);
  assert.deepEqual(standard()?.allowedTopologies, ON_THIS_NODE);
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
  assert.match(place.events('ProvisioningFailed').join(), /directories of the node n, not of other; restrict/);
  assert.notEqual(place.client.stored(PERSISTENT_VOLUMES, { name: 'pvc-old' }), undefined);
});

test('a volume being deleted is released with its claim, so that it is no longer protected', async () => {
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

/** A bound claim `data` with its directory. */
async function openBound() {
  const opened = open();
  const { place, claim, put } = opened;
  put('data', { 'volume.kubernetes.io/selected-node': 'n' });
  await place.until(() => place.client.stored(STORAGE_CLASSES, { name: 'standard' }) !== undefined);
  await place.until(() => claim('data')?.status?.phase === 'Bound');
  const volume = () => place.client.stored<Volume>(PERSISTENT_VOLUMES, { name: 'pvc-uid-data' });
  await place.until(() => volume()?.status?.phase === 'Bound');
  const putVolume = (change: (volume: Volume) => Volume) => place.client.put(PERSISTENT_VOLUMES, change(volume()!));
  return { ...opened, volume, putVolume };
}

test('a claim that requests more gets a larger volume, and an event', async () => {
  const { place, claim, volume } = await openBound();
  await using _place = place;
  const { spec, ...larger } = claim('data')!;
  const resources = { requests: { storage: '3Gi' } };
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, { ...larger, spec: { ...spec, resources } });
  await place.until(() => claim('data')?.status?.capacity?.storage === '3Gi');
  assert.equal(volume()?.spec.capacity?.storage, '3Gi');
  await place.until(() => place.events('VolumeResizeSuccessful').length === 1);
});

test('the directory of a volume deleted before its claim is removed with the claim', async () => {
  const { place, directories, volume, putVolume } = await openBound();
  await using _place = place;
  putVolume(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }));
  place.client.remove(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: 'data' });
  await place.until(() => directories.size === 0);
  await place.until(() => (volume()?.metadata.finalizers ?? []).length === 0);
});

test('the directory of a retained volume remains, and the volume has no finalizer', async () => {
  const { place, directories, volume, putVolume } = await openBound();
  await using _place = place;
  assert.deepEqual(volume()?.metadata.finalizers, ['podwright.dev/directory']);
  putVolume(({ spec, ...rest }) => ({ ...rest, spec: { ...spec, persistentVolumeReclaimPolicy: 'Retain' } }));
  await place.until(() => (volume()?.metadata.finalizers ?? []).length === 0);
  place.client.remove(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: 'data' });
  await place.until(() => volume()?.status?.phase === 'Released');
  assert.deepEqual([...directories], ['/volumes/pvc-uid-data']);
});

test('a block device claim is rejected with an event', async () => {
  const { place } = open();
  await using _place = place;
  await place.until(() => place.client.stored(STORAGE_CLASSES, { name: 'standard' }) !== undefined);
  const metadata = {
    ...{ namespace: 'shop', name: 'disk', uid: 'uid-disk' },
    annotations: { 'volume.kubernetes.io/selected-node': 'n' },
  };
  const spec = { storageClassName: 'standard', accessModes: ['ReadWriteOnce'], volumeMode: 'Block' };
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, { metadata, spec });
  await place.until(() => place.events('ProvisioningFailed').length > 0);
  assert.match(place.events('ProvisioningFailed')[0] ?? '', /directories, which cannot have the volumeMode Block/);
});

test('a grown volume does not change the size of its bound claim, as its file system may not have been resized', async () => {
  const { place, claim } = open();
  await using _place = place;
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, {
    metadata: { namespace: 'shop', name: 'old', uid: 'old', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: 'disk', accessModes: ['ReadWriteOnce'] },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  });
  place.client.put<Volume>(PERSISTENT_VOLUMES, {
    metadata: { name: 'disk' },
    spec: {
      ...{ claimRef: { namespace: 'shop', name: 'old', uid: 'old' }, accessModes: ['ReadWriteMany'] },
      capacity: { storage: '5Gi' },
    },
  });
  await place.until(() => claim('old')?.status?.accessModes?.[0] === 'ReadWriteMany');
  assert.deepEqual(claim('old')?.status?.capacity, { storage: '1Gi' });
});

test('a claim’s annotations yield no directory for another provisioner’s class, or before a pod needs it', async () => {
  const { place, directories, claim, put } = open();
  await using _place = place;
  const provisioner = 'csi.example.com';
  place.client.put<StorageClass>(STORAGE_CLASSES, { metadata: { name: 'gold' }, provisioner });
  place.client.put<StorageClass>(STORAGE_CLASSES, {
    metadata: { name: 'standard' },
    ...{ provisioner: 'podwright.dev/directory', volumeBindingMode: 'WaitForFirstConsumer' },
  });
  const forged = { 'volume.kubernetes.io/storage-provisioner': 'podwright.dev/directory' };
  put('early', forged);
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, {
    metadata: { namespace: 'shop', name: 'golden', uid: 'uid-golden', annotations: forged },
    spec: { storageClassName: 'gold', accessModes: ['ReadWriteOnce'] },
  });
  put('near', { 'volume.kubernetes.io/selected-node': 'n' });
  await place.until(() => claim('near')?.status?.phase === 'Bound');
  await place.until(() => claim('golden')?.metadata.annotations?.[Object.keys(forged)[0]!] === provisioner);
  assert.deepEqual([...directories], ['/volumes/pvc-uid-near']);
});

test('hanging removals delay neither claims nor controller shutdown', async () => {
  const directories = new Set<string>();
  let started = 0;
  const provisioner = directoryProvisioner({
    directory: '/volumes',
    nodeName: 'n',
    create: async (path) => void directories.add(path),
    remove: (_path, signal) => {
      started++;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  const place = new TestPlace(volumeBinder, provisioner);
  for (let index = 0; index < 10; index++)
    place.client.put<Volume>(PERSISTENT_VOLUMES, {
      metadata: {
        name: `pvc-${index}`,
        annotations: { 'pv.kubernetes.io/provisioned-by': 'podwright.dev/directory' },
      },
      spec: { claimRef: { namespace: 'shop', name: 'a', uid: `${index}` }, persistentVolumeReclaimPolicy: 'Delete' },
    });
  await place.until(() => started >= 5);
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, {
    metadata: {
      ...{ namespace: 'shop', name: 'new', uid: 'new' },
      annotations: { 'volume.kubernetes.io/selected-node': 'n' },
    },
    spec: { storageClassName: 'standard', accessModes: ['ReadWriteOnce'] },
  });
  await place.until(() => directories.has('/volumes/pvc-new'));
  using signal = withTimeout(undefined, 10_000, 'stop the controllers');
  await raceAbort(place[Symbol.asyncDispose](), signal);
});

test('events about a deleted claim are forgotten', async () => {
  const { place, put } = open();
  await using _place = place;
  const counts = () => ['ExternalProvisioning', 'ProvisioningFailed'].map((reason) => place.events(reason).length);
  const isElsewhere = { 'volume.kubernetes.io/selected-node': 'other' };
  await place.until(() => place.client.stored(STORAGE_CLASSES, { name: 'standard' }) !== undefined);
  put('data', isElsewhere);
  await place.until(() => counts().join() === '1,1');
  place.client.remove(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: 'data' });
  put('marker'); // handled after the removal
  await place.until(() => place.events('WaitForFirstConsumer').length === 1);
  put('data', isElsewhere); // with the same UID, which shows that nothing was remembered
  await place.client.waitForCalls({ verb: 'patch', plural: EVENTS.plural }, 2); // the same events again
});
