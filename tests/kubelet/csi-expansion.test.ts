/** Expansion of a CSI driver's volumes before and during use by pods. Requires root. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { BoundClaim, ClaimStatus } from '../../packages/kube-api/src/objects/persistent-volume.ts';
import type { CsiVolume } from '../../packages/volumes/src/csi/csi-volume.ts';
import { CsiNodeUnderTest, DISK, never, pod } from './csi-node.fixture.ts';

const PENDING: ClaimStatus = {
  phase: 'Bound',
  capacity: { storage: '1Gi' },
  allocatedResources: { storage: '2Gi' },
  allocatedResourceStatuses: { storage: 'NodeResizePending' },
};
const GROWN: ClaimStatus = { phase: 'Bound', capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } };
const PATCHES = [
  { metadata: { resourceVersion: '1' }, status: { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } } },
  { metadata: { resourceVersion: '1' }, status: { capacity: { storage: '2Gi' }, allocatedResourceStatuses: null } },
];
const failedTo = (why: string) => `failed to expand pvc with Expander.NodeExpand failed to expand the volume ${why}`;

async function started(context: TestContext, status: ClaimStatus): Promise<CsiNodeUnderTest> {
  const node = new CsiNodeUnderTest();
  await node.start(context);
  setStatus(node, status);
  return node;
}

function setStatus(node: CsiNodeUnderTest, status: ClaimStatus): void {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
  node.claim = { ...node.claim, spec, status };
}

const sized = (claim: BoundClaim, size = '2Gi'): Partial<CsiVolume> => ({
  bound: { claim, size },
  expandSecret: { namespace: 'storage', name: 'expand' },
});

const expansions = async (node: CsiNodeUnderTest) =>
  (await node.driver.allCalls()).filter(({ call }) => call === 'nodeExpandVolume').map(({ request }) => request);

const until = (isSo: () => boolean) =>
  waitFor(() => isSo() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });

/** Returns the error of a failed expansion while a pod is using the volume. */
async function failureUnder(node: CsiNodeUnderTest): Promise<unknown> {
  const look = () =>
    node.setUp('1', sized(node.claim)).then(
      () => undefined,
      (error: unknown) => error,
    );
  return await waitFor(look, { intervalMs: 5, signal: AbortSignal.timeout(10_000) });
}

test('an enlarged volume is expanded after it is published, and its claim is updated', async (context) => {
  const node = await started(context, PENDING);
  const volumePath = await node.setUp('1', sized(node.claim));
  assert.deepEqual(await node.calls(), ['nodeStageVolume', 'nodePublishVolume', 'nodeExpandVolume']);
  assert.deepEqual(node.patches, PATCHES);
  assert.deepEqual(node.claim.status, { ...GROWN, allocatedResourceStatuses: null });
  const message = 'MountVolume.NodeExpandVolume succeeded for volume "pv-1" ';
  const event = { reason: 'FileSystemResizeSuccessful', message };
  assert.deepEqual(node.events, [
    { kind: 'Pod', ...event },
    { kind: 'PersistentVolumeClaim', ...event },
  ]);
  assert.ok(volumePath.endsWith('/mount'));
  await node.setUp('1', sized(node.claim));
  assert.deepEqual(await node.calls(), [], 'once');
  await node.volumes.tearDown('1');
});

test('a volume used by several pods is expanded once, with the parameters required by the driver', async (context) => {
  const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
  const before = sized(node.claim, '1Gi');
  for (const uid of ['1', '2']) await node.setUp(uid, before);
  await node.calls();
  setStatus(node, PENDING);
  await Promise.all(['1', '2'].map((uid) => node.setUp(uid, sized(node.claim))));
  await until(() => node.patches.length === 2);
  await Promise.all(['1', '2'].map((uid) => node.setUp(uid, sized(node.claim))));
  const [request, ...others] = await expansions(node);
  assert.deepEqual(others, []);
  const { volumeCapability, $typeName: _, ...rest } = JSON.parse(JSON.stringify(request));
  assert.equal(volumeCapability.accessType.value.fsType, 'ext4');
  assert.deepEqual(volumeCapability.accessType.value.mountFlags, ['noatime']);
  delete rest.capacityRange.$typeName;
  assert.deepEqual(rest, {
    volumeId: 'disk-1',
    volumePath: [node.published('1'), node.published('2')].find((path) => path === rest.volumePath),
    stagingTargetPath: rest.stagingTargetPath,
    capacityRange: { requiredBytes: String(2 ** 31), limitBytes: '0' },
    secrets: { password: 'storage-expand' },
  });
  assert.match(rest.stagingTargetPath, /globalmount$/);
  assert.deepEqual(node.patches, PATCHES);
  for (const uid of ['1', '2']) await node.volumes.tearDown(uid);
});

test('a block device in use is expanded', async (context) => {
  const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
  await node.map('1', sized(node.claim, '1Mi'));
  setStatus(node, { ...PENDING, allocatedResources: { storage: '2Mi' }, capacity: { storage: '1Mi' } });
  await node.restart();
  await node.map('1', sized(node.claim, '2Mi'));
  const [request] = await expansions(node);
  const { volumeCapability, volumePath, stagingTargetPath } = JSON.parse(JSON.stringify(request));
  const root = join(node.rootDir, 'plugins/kubernetes.io/csi/volumeDevices');
  assert.equal(volumeCapability.accessType.case, 'block');
  assert.deepEqual([volumePath, stagingTargetPath], [join(root, 'publish/pv-1/1'), join(root, 'staging/pv-1')]);
  await node.blockVolumes.tearDown('1');
});

test('failed expansions are reported with upstream’s messages', async (context) => {
  const node = await started(context, PENDING);
  const failing = async (error: number) => {
    await node.restart(); // resets the backoff
    setStatus(node, PENDING);
    node.patches.length = 0;
    await node.driver.behave({ nodeExpandVolume: { error } });
    return await node.failure(node.setUp('1', sized(node.claim)));
  };
  const where = 'MountVolume.Setup failed while expanding volume for volume "pv-1" : ';
  const rpc = (code: string) => `rpc error: code = ${code} desc = configured to fail nodeExpandVolume`;
  const saying = (message: string) => ({
    ...{ type: 'NodeResizeError', status: 'True', lastProbeTime: null },
    ...{ lastTransitionTime: '2026-01-01T00:00:00Z', message },
  });
  const order = { '$setElementOrder/conditions': [{ type: 'NodeResizeError' }] };
  const failure = 'Expander.NodeExpand failed to expand the volume';
  assert.equal(await failing(13), `${where}${failure} : ${rpc('Internal')}`);
  assert.deepEqual(node.patches.at(-1)?.status, { ...order, conditions: [saying(failedTo(`: ${rpc('Internal')}`))] });
  assert.equal(await failing(11), `${where}${failure} ${rpc('OutOfRange')}`);
  assert.deepEqual(node.patches.at(-1)?.status, {
    ...{ allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' }, ...order },
    conditions: [saying(failedTo(rpc('OutOfRange')))],
  });
  // the driver cannot expand a volume in use: the pod uses it as it is, and the kubelet does not retry
  assert.equal(await failing(9), 'it worked');
  await node.driver.behave({});
  await node.calls();
  await node.setUp('1', sized(node.claim));
  assert.deepEqual(await node.calls(), []);
  await node.volumes.tearDown('1');
});

test('the failure for a volume in use is reported as an expansion failure, and a claim with an unfinished controller is left unchanged', async (context) => {
  const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
  await node.setUp('1', sized(node.claim, '1Gi'));
  setStatus(node, { ...PENDING, allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } });
  await node.setUp('1', sized(node.claim));
  assert.deepEqual(await expansions(node), []);
  setStatus(node, PENDING);
  await node.driver.behave({ nodeExpandVolume: { error: 13 } });
  const failed = await failureUnder(node);
  assert.equal((failed as { reason?: string }).reason, 'VolumeResizeFailed');
  assert.match(
    String(failed),
    /NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : Expander.NodeExpand failed/,
  );
  assert.equal((await expansions(node)).length, 1, 'not again so soon');
  node.volumes.driverRegistered('disk.test'); // resets the backoff
  await node.driver.behave({});
  node.driver.forget();
  await node.setUp('1', sized(node.claim)).catch(() => undefined);
  await until(() => node.claim.status?.capacity?.storage === '2Gi');
  await node.setUp('1', sized(node.claim));
  await node.volumes.tearDown('1');
});

test('expanding a volume in use does not block the pod, and completes before the volume is unpublished', async (context) => {
  for (const isBlock of [false, true]) {
    const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
    const rooms = isBlock ? node.blockVolumes : node.volumes;
    const setUp = (change: Partial<CsiVolume>) => rooms.setUp(pod('1'), { ...DISK, isBlock, ...change }, never);
    await setUp(sized(node.claim, '1Gi'));
    setStatus(node, PENDING);
    await node.driver.behave({ nodeExpandVolume: { hang: true } });
    for (let times = 0; times < 2; times++) await setUp(sized(node.claim));
    await node.driver.called('nodeExpandVolume');
    await rooms.tearDown('1');
    assert.deepEqual((await node.calls()).slice(2), ['nodeExpandVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume']);
    assert.equal(node.claim.status?.capacity?.storage, '1Gi');
    await node.driver.behave({});
  }
});

test('a claim that waits for its controller is not requested from the API server', async (context) => {
  const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
  await node.setUp('1', sized(node.claim, '1Gi'));
  const asked = node.claimReads;
  for (const state of ['NodeResizeInfeasible', 'ControllerResizeInProgress', 'ControllerResizeInfeasible']) {
    setStatus(node, { ...PENDING, allocatedResourceStatuses: { storage: state } });
    await node.setUp('1', sized(node.claim));
  }
  assert.equal(node.claimReads, asked);
  await node.volumes.tearDown('1');
});

test('a driver with requiresRepublish is called again, even if the expansion fails', async (context) => {
  const node = await started(context, { ...PENDING, allocatedResourceStatuses: undefined });
  node.driverObject = { ...node.driverObject, requiresRepublish: true };
  await node.setUp('1', sized(node.claim, '1Gi'));
  setStatus(node, PENDING);
  await node.driver.behave({ nodeExpandVolume: { error: 13 } });
  await failureUnder(node);
  await node.calls();
  assert.match(await node.failure(node.setUp('1', sized(node.claim))), /NodeExpandVolume failed/);
  assert.deepEqual(await node.calls(), ['nodePublishVolume']);
  await node.driver.behave({});
  await node.volumes.tearDown('1');
});

test('the claim of an old controller gets its size, but no other field', async (context) => {
  const node = await started(context, { phase: 'Bound', capacity: { storage: '1Gi' } });
  await node.setUp('1', sized(node.claim));
  assert.deepEqual(node.patches, [{ metadata: { resourceVersion: '1' }, status: { capacity: { storage: '2Gi' } } }]);
  await node.volumes.tearDown('1');
});
