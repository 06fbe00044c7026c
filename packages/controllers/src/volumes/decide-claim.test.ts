import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { decideClaim, defaultClassOf, matchingVolume, volumePhase } from './decide-claim.ts';

const SPEC = { storageClassName: 'fast', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };

function claim(spec: Partial<Claim['spec']> = {}, annotations: Record<string, string> = {}): Claim {
  return { metadata: { namespace: 'shop', name: 'data', uid: 'u1', annotations }, spec: { ...SPEC, ...spec } };
}

function volume(name: string, spec: Partial<Volume['spec']> = {}, phase = 'Available'): Volume {
  const own = { storageClassName: 'fast', accessModes: ['ReadWriteOnce'], capacity: { storage: '5Gi' } };
  return { metadata: { name }, spec: { ...own, ...spec }, status: { phase } };
}

const storageClass = (more: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name: 'fast' },
  provisioner: 'example.com/disk',
  ...more,
});

const reference = (uid?: string) => ({ namespace: 'shop', name: 'data', ...(uid !== undefined && { uid }) });

/** Asserts the binder's decision for a claim, formatted as `type volume-or-reason-or-provisioner`. */
function check(
  given: Claim,
  cluster: { volumes?: Volume[]; storageClass?: StorageClass; defaultClass?: string },
  expected: string,
) {
  const decision = decideClaim(given, { volumes: [], storageClass: undefined, ...cluster });
  const detail =
    'volume' in decision
      ? decision.volume.metadata.name
      : 'reason' in decision
        ? decision.reason
        : decision.type === 'assign'
          ? decision.storageClassName
          : decision.provisioner;
  assert.equal(`${decision.type} ${detail}`, expected);
}

test('the smallest volume satisfying a claim is chosen', () => {
  const volumes = [
    volume('large', { capacity: { storage: '1Ti' } }),
    volume('small', { capacity: { storage: '1Gi' } }),
    volume('taken', { claimRef: reference('u2') }),
    volume('other-class', { storageClassName: 'slow' }),
    volume('other-mode', { accessModes: ['ReadOnlyMany'] }),
    volume('block', { volumeMode: 'Block' }),
    volume('released', {}, 'Released'),
    volume('gold', { volumeAttributesClassName: 'gold' }),
    volume('right'),
  ];
  assert.equal(matchingVolume(claim(), volumes)?.metadata.name, 'right');
  assert.equal(matchingVolume(claim({ selector: { matchLabels: { a: 'b' } } }), volumes), undefined);
});

test('a claim is bound to a reserved, matching or newly provisioned volume', () => {
  check(
    claim(),
    { storageClass: storageClass(), volumes: [volume('a'), volume('b', { claimRef: reference() })] },
    'bind b',
  );
  check(claim(), { storageClass: storageClass(), volumes: [volume('a')] }, 'bind a');
  check(claim(), { storageClass: storageClass() }, 'provision example.com/disk');
  check(claim({ storageClassName: '' }), {}, 'wait FailedBinding');
  check(claim(), {}, 'wait ProvisioningFailed');
});

test('a class with an in-tree provisioner fails, unless it has been migrated to a CSI driver', () => {
  const ofClass = (provisioner: string) =>
    decideClaim(claim(), { volumes: [], storageClass: storageClass({ provisioner }) });
  for (const name of ['kubernetes.io/no-provisioner', 'kubernetes.io/glusterfs'])
    assert.deepEqual(ofClass(name), {
      type: 'wait',
      event: 'Warning',
      reason: 'ProvisioningFailed',
      message: `no volume plugin matched name: ${name}`,
    });
  assert.deepEqual(ofClass('kubernetes.io/aws-ebs'), { type: 'provision', provisioner: 'kubernetes.io/aws-ebs' });
});

test('a claim without a class gets the default class once there is one, unless a volume satisfies it', () => {
  const unset = claim({ storageClassName: undefined });
  check(unset, {}, 'wait FailedBinding');
  check(unset, { defaultClass: 'fast' }, 'assign fast');
  check(unset, { defaultClass: 'fast', volumes: [volume('a', { storageClassName: '' })] }, 'bind a');
  check(claim({ storageClassName: '' }), { defaultClass: 'fast' }, 'wait FailedBinding');
  const annotated = claim({ storageClassName: undefined }, { 'volume.beta.kubernetes.io/storage-class': '' });
  check(annotated, { defaultClass: 'fast' }, 'wait FailedBinding');
});

test('the newest default class wins, with ties broken by name', () => {
  const made = (name: string, creationTimestamp: string, isDefault = 'true') => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': isDefault };
    return storageClass({ metadata: { name, creationTimestamp, annotations } });
  };
  const [old, recent] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  assert.equal(defaultClassOf([made('a', old), made('c', recent), made('b', recent), made('d', old)]), 'b');
  assert.equal(defaultClassOf([made('a', old, 'false'), storageClass()]), undefined);
});

test('a WaitForFirstConsumer class leaves the choice to the scheduler', () => {
  const delayed = storageClass({ volumeBindingMode: 'WaitForFirstConsumer' });
  check(claim(), { storageClass: delayed, volumes: [volume('a')] }, 'wait WaitForFirstConsumer');
  check(claim(), { storageClass: delayed, volumes: [volume('a', { claimRef: reference('u1') })] }, 'bind a');
  const selected = claim({}, { 'volume.kubernetes.io/selected-node': 'n' });
  check(selected, { storageClass: delayed, volumes: [volume('a')] }, 'provision example.com/disk');
});

test('the legacy class annotation takes precedence over the field', () => {
  const annotated = claim({ storageClassName: undefined }, { 'volume.beta.kubernetes.io/storage-class': 'fast' });
  check(annotated, { storageClass: storageClass() }, 'provision example.com/disk');
  check(annotated, { storageClass: storageClass(), volumes: [volume('a')] }, 'bind a');
});

test('a claim that names a volume gets only that one, unless it belongs to another claim', () => {
  const named = claim({ volumeName: 'a' });
  check(named, { volumes: [volume('a'), volume('b')] }, 'bind a');
  check(named, { volumes: [volume('b')] }, 'wait FailedBinding');
  check(named, { volumes: [volume('a', { claimRef: reference('u2') })] }, 'wait FailedBinding');
});

test('a claim that names a free volume gets it only if the volume satisfies the claim', () => {
  const named = claim({ volumeName: 'a' });
  check(named, { volumes: [volume('a', { storageClassName: 'private' })] }, 'wait VolumeMismatch');
  check(named, { volumes: [volume('a', { capacity: { storage: '1Gi' } })] }, 'wait VolumeMismatch');
  check(named, { volumes: [volume('a', { volumeMode: 'Block' })] }, 'wait VolumeMismatch');
  check(named, { volumes: [volume('a', { accessModes: ['ReadOnlyMany'] })] }, 'wait VolumeMismatch');
  check(named, { volumes: [volume('a', { volumeAttributesClassName: 'gold' })] }, 'wait VolumeMismatch');
  const gold = claim({ volumeName: 'a', volumeAttributesClassName: 'gold' });
  check(gold, { volumes: [volume('a', { volumeAttributesClassName: 'gold' })] }, 'bind a');
  check(named, { volumes: [volume('a', { storageClassName: 'private', claimRef: reference() })] }, 'bind a');
  const free = volume('a');
  const deleted = { ...free, metadata: { ...free.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(decideClaim(named, { volumes: [deleted], storageClass: undefined }), {
    type: 'wait',
    event: 'Warning',
    reason: 'VolumeMismatch',
    message: 'Cannot bind to requested volume "a": the volume is marked for deletion "a"',
  });
});

test('a bound claim is lost with its volume, and does not take that of another claim', () => {
  const bound = claim({ volumeName: 'a' }, { 'pv.kubernetes.io/bind-completed': 'yes' });
  check(bound, { volumes: [volume('a', { claimRef: reference('u1') })] }, 'bound a');
  check(bound, {}, 'lost ClaimLost');
  check(bound, { volumes: [volume('a', { claimRef: reference('u2') })] }, 'lost ClaimMisbound');
});

test('a claim annotated as bound gets a free volume that satisfies it, ignoring size and attributes class', () => {
  const bound = claim({ volumeName: 'a' }, { 'pv.kubernetes.io/bind-completed': 'yes' });
  check(bound, { volumes: [volume('a')] }, 'bind a');
  check(bound, { volumes: [volume('a', { capacity: { storage: '1Gi' } })] }, 'bind a');
  check(bound, { volumes: [volume('a', { volumeAttributesClassName: 'gold' })] }, 'bind a');
  check(bound, { volumes: [volume('a', { storageClassName: 'private' })] }, 'wait VolumeMismatch');
  check(bound, { volumes: [volume('a', { accessModes: ['ReadOnlyMany'] })] }, 'wait VolumeMismatch');
});

test('a volume is released when its claim is removed, even if a new claim has the same name', () => {
  const used = volume('a', { claimRef: reference('u1') });
  assert.deepEqual(
    [volumePhase(volume('a'), undefined), volumePhase(used, claim()), volumePhase(used, undefined)],
    ['Available', 'Bound', 'Released'],
  );
  const successor = claim();
  successor.metadata.uid = 'u3';
  assert.equal(volumePhase(used, successor), 'Released');
});
