import { test } from 'node:test';
import { ago, checkRow } from './row-checks.fixture.ts';

const BETA_CLASS = { 'volume.beta.kubernetes.io/storage-class': 'old' };

test('a claim shows its volume’s size and access modes once bound', () => {
  const check = (
    spec: object,
    status: object,
    ...[Status, Volume, Capacity, modes]: [string, string, string, string]
  ) => checkRow('PersistentVolumeClaim', { spec, status }, { Status, Volume, Capacity, 'Access Modes': modes });
  const bound = { volumeName: 'v' };
  const capacity = { storage: '4Gi' };
  check(bound, { phase: 'Bound', accessModes: ['ReadOnlyMany'], capacity }, 'Bound', 'v', '4Gi', 'ROX');
  check({}, { phase: 'Lost', accessModes: ['ReadOnlyMany'], capacity }, 'Lost', '', '', '');
  check(
    bound,
    { phase: 'Pending', accessModes: ['ReadWriteMany'], capacity: { storage: '10240Mi' } },
    'Pending',
    'v',
    '10Gi',
    'RWX',
  );
  check(bound, { phase: 'Bound' }, 'Bound', 'v', '0', '');
  const modes = ['ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce', 'ReadWriteOnce'];
  check(bound, { phase: 'Bound', accessModes: modes, capacity }, 'Bound', 'v', '4Gi', 'RWO,ROX,RWX,RWOP');
});

test('claims and volumes show their class and volume mode', () => {
  const check = (spec: object, ...[StorageClass, attributes, VolumeMode]: [string, string, string]) => {
    const expected = { StorageClass, VolumeAttributesClass: attributes, VolumeMode };
    checkRow('PersistentVolumeClaim', { spec }, expected);
    checkRow('PersistentVolume', { spec }, expected);
  };
  check({}, '', '<unset>', '<unset>');
  check({ storageClassName: 's', volumeAttributesClassName: 'a', volumeMode: 'Block' }, 's', 'a', 'Block');
  const object = { metadata: { annotations: BETA_CLASS }, spec: { storageClassName: 's' } };
  checkRow('PersistentVolumeClaim', object, { StorageClass: 'old' });
  checkRow('PersistentVolume', object, { StorageClass: 'old' });
});

test('claims and volumes being deleted show as terminating', () => {
  const object = { metadata: { deletionTimestamp: ago(1) }, spec: {}, status: { phase: 'Bound' } };
  checkRow('PersistentVolumeClaim', object, { Status: 'Terminating' });
  checkRow('PersistentVolume', object, { Status: 'Terminating' });
});

test('volumes show their size, claim and reason', () => {
  const claimRef = { namespace: 'default', name: 'test' };
  checkRow(
    'PersistentVolume',
    {
      spec: {
        capacity: { storage: '4Gi' },
        accessModes: ['ReadOnlyMany'],
        claimRef,
        persistentVolumeReclaimPolicy: 'Retain',
      },
      status: { phase: 'Failed', reason: 'Recycle' },
    },
    {
      ...{ Capacity: '4Gi', 'Access Modes': 'ROX', 'Reclaim Policy': 'Retain', Status: 'Failed' },
      ...{ Claim: 'default/test', Reason: 'Recycle' },
    },
  );
  checkRow(
    'PersistentVolume',
    { spec: {} },
    { Capacity: '0', 'Access Modes': '', 'Reclaim Policy': '', Claim: '', Reason: '' },
  );
});

test('storage classes show the defaults of unset fields', () => {
  const key = 'StorageClass.storage.k8s.io';
  checkRow(
    key,
    { metadata: { name: 's' }, provisioner: 'p' },
    {
      Name: 's',
      Provisioner: 'p',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
    },
  );
  checkRow(
    key,
    { reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true },
    { ReclaimPolicy: 'Retain', VolumeBindingMode: 'WaitForFirstConsumer', AllowVolumeExpansion: true },
  );
  for (const prefix of ['', 'beta.']) {
    const annotations = { [`storageclass.${prefix}kubernetes.io/is-default-class`]: 'true' };
    checkRow(key, { metadata: { name: 's', annotations } }, { Name: 's (default)' });
  }
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'false' };
  checkRow(key, { metadata: { name: 's', annotations } }, { Name: 's' });
});

test('attachments, attributes classes and CSI objects show their main fields', () => {
  const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } };
  const key = 'VolumeAttachment.storage.k8s.io';
  checkRow(key, { spec, status: { attached: true } }, { Attacher: 'a', PV: 'v', Node: 'n', Attached: true });
  checkRow(key, { spec: { ...spec, source: {} } }, { PV: '', Attached: false });
  checkRow('VolumeAttributesClass.storage.k8s.io', { driverName: 'd' }, { DriverName: 'd' });
  checkRow('CSINode.storage.k8s.io', { spec: { drivers: [{}, {}] } }, { Drivers: 2 });
  checkRow(
    'CSIDriver.storage.k8s.io',
    { spec: {} },
    {
      ...{ AttachRequired: true, PodInfoOnMount: false, StorageCapacity: false, TokenRequests: '<unset>' },
      ...{ RequiresRepublish: false, Modes: '<none>' },
    },
  );
  const tokenRequests = [{ audience: 'a' }, { audience: 'b' }];
  const modes = { attachRequired: false, tokenRequests, volumeLifecycleModes: ['Persistent', 'Ephemeral'] };
  checkRow(
    'CSIDriver.storage.k8s.io',
    { spec: modes },
    { AttachRequired: false, TokenRequests: 'a,b', Modes: 'Persistent,Ephemeral' },
  );
});
