import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentName, type CsiDriver, type KubeObject, type Pod } from '@podwright/kube-api';
import { VolumeCapability_AccessMode_Mode as Mode } from '../csi-api.ts';
import { type CsiVolume, inlineVolume } from './csi-volume.ts';
import { driversWith, nodeWith, nodeWithout } from './driver-nodes.ts';
import { highestVersion } from './driver-versions.ts';
import { checkLifecycle, needsGroupChange } from './fs-group.ts';
import { volumeCapability } from './volume-capability.ts';

const volume = (change: Partial<CsiVolume> = {}): CsiVolume => ({
  ...{ name: 'v', driver: 'd', handle: 'h', mode: 'Persistent', readOnly: false, fsType: 'ext4' },
  ...{ attributes: {}, mountOptions: [], accessModes: ['ReadWriteOnce'] },
  ...change,
});
const driver = (spec: CsiDriver['spec']): CsiDriver => ({ metadata: { name: 'd' }, spec });
const capabilities = {
  stage: true,
  volumeStats: false,
  mountGroup: false,
  expand: false,
  multiWriter: false,
};

test('the highest 1.x version is chosen', () => {
  const check = (versions: string[], expected: string) => {
    const found = highestVersion(versions);
    assert.equal('problem' in found ? found.problem : found.text, expected);
  };
  check(['1.0.0', '1.10.0', '1.9.3'], '1.10.0');
  check(['v1.2', '0.3.0', '2.0.0'], '1.2');
  check([' 1.0.0-rc1 '], '1.0.0');
  check(['0.3.0'], 'highest supported version reported is 0.3.0, must be v1.x');
  check(['2.0.0', 'one', '01.0'], 'could not find a highest supported version from versions (2.0.0 one 01.0) reported');
});

test('names match upstream', () => {
  const pod = { metadata: { uid: 'uid', name: 'p', namespace: 'n' } } as Pod;
  const inline = inlineVolume(pod, { name: 'v', csi: { driver: 'd' } });
  // the expected hashes are from `printf %s uidv | sha256sum` and `printf %s hdnode | sha256sum`
  assert.equal(inline.handle, 'csi-805993d7c078d84a6cd26549afcb8ef6e4eefee1458b1f9ebaf9d6996efbf3e5');
  assert.equal(
    attachmentName({ handle: 'h', driver: 'd' }, 'node'),
    'csi-c42cf57099d6443b605c16f111056170d3d4e01cedcbcbac71a93245953703cf',
  );
});

test('access modes depend on the driver’s SINGLE_NODE_MULTI_WRITER capability', () => {
  const check = (accessModes: string[], one: Mode, several: Mode) => {
    const modes = [false, true].map(
      (multiWriter) =>
        volumeCapability(volume({ accessModes }), { ...capabilities, multiWriter }, undefined).accessMode.mode,
    );
    assert.deepEqual(modes, [one, several]);
  };
  check(['ReadWriteOnce', 'ReadOnlyMany'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER);
  check(['ReadWriteOncePod'], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_SINGLE_WRITER);
  check(['ReadOnlyMany'], Mode.MULTI_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY);
  check(['ReadWriteMany'], Mode.MULTI_NODE_MULTI_WRITER, Mode.MULTI_NODE_MULTI_WRITER);
  check([], Mode.SINGLE_NODE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER);
  check(['Sometimes'], Mode.UNKNOWN, Mode.UNKNOWN);
});

test('the fsGroupPolicy of the CSIDriver determines which volumes get the fsGroup', () => {
  const check = (
    policy: NonNullable<CsiDriver['spec']['fsGroupPolicy']>,
    change: Partial<CsiVolume>,
    expected: boolean,
  ) =>
    assert.equal(
      needsGroupChange(driver({ fsGroupPolicy: policy }), volume(change)),
      expected,
      JSON.stringify([policy, change]),
    );
  check('ReadWriteOnceWithFSType', {}, true);
  check('ReadWriteOnceWithFSType', { fsType: '' }, false);
  check('ReadWriteOnceWithFSType', { accessModes: ['ReadWriteMany'] }, false);
  check('ReadWriteOnceWithFSType', { accessModes: [], mode: 'Ephemeral' }, true);
  check('ReadWriteOnceWithFSType', { readOnly: true }, false);
  check('File', { fsType: '', accessModes: ['ReadWriteMany'] }, true);
  check('None', {}, false);
  assert.equal(needsGroupChange(undefined, volume()), true);
  assert.throws(() => needsGroupChange(driver({}), volume()), /expected valid fsGroupPolicy, received nil value/);
});

test('a volume with a lifecycle mode not supported by the driver is rejected', () => {
  const check = (object: CsiDriver | undefined, mode: CsiVolume['mode'], expected: string) => {
    const refuse = () => checkLifecycle(object, volume({ mode }));
    if (expected === '') refuse();
    else
      assert.throws(refuse, {
        message: `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "${mode}" not supported by driver d (${expected})`,
      });
  };
  check(undefined, 'Persistent', '');
  check(undefined, 'Ephemeral', 'no CSIDriver object');
  check(driver({ volumeLifecycleModes: ['Persistent'] }), 'Ephemeral', 'only supports ["Persistent"]');
  check(driver({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] }), 'Ephemeral', '');
});

test('a driver is added to and removed from the Node’s annotation and labels', () => {
  const KEY = 'csi.volume.kubernetes.io/nodeid';
  const node = (metadata: KubeObject['metadata']): KubeObject => ({ metadata });
  const info = { nodeId: 'i', maxVolumes: 0, topology: { zone: 'a' } };
  assert.deepEqual(nodeWith(node({}), 'd', info), { annotations: { [KEY]: '{"d":"i"}' }, labels: { zone: 'a' } });
  const known = node({ labels: { zone: 'a' }, annotations: { [KEY]: '{"d":"i","e":"j"}' } });
  assert.equal(nodeWith(known, 'd', info), undefined);
  assert.deepEqual(nodeWith(known, 'c', info), { annotations: { [KEY]: '{"c":"i","d":"i","e":"j"}' }, labels: {} });
  assert.throws(() => nodeWith(node({ labels: { zone: 'b' } }), 'd', info), {
    message: 'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
  });
  assert.throws(() => nodeWith(node({ annotations: { [KEY]: 'x' } }), 'd', info), /failed to parse node's/);
  assert.deepEqual(nodeWithout(known, 'd'), { annotations: { [KEY]: '{"e":"j"}' } });
  assert.deepEqual(nodeWithout(node({ annotations: { [KEY]: '{"d":"i"}' } }), 'd'), { annotations: { [KEY]: null } });
  assert.equal(nodeWithout(node({}), 'd'), undefined);
});

test('a driver is added to the CSINode with its topology and limit', () => {
  const info = { nodeId: 'i', maxVolumes: 9, topology: { zone: 'a', region: 'r' } };
  const d = { name: 'd', nodeID: 'i', topologyKeys: ['region', 'zone'], allocatable: { count: 9 } };
  const e = { name: 'e', nodeID: 'j', topologyKeys: null };
  assert.deepEqual(driversWith([e], 'd', info), [e, d]);
  const same = [d, e];
  assert.equal(driversWith(same, 'd', info), same);
  const { allocatable: _, ...unlimited } = d;
  assert.deepEqual(driversWith(same, 'd', { ...info, maxVolumes: 0 }), [e, unlimited]);
});
