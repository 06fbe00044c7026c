import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { errorMessage, PodwrightError, Registry, silentLogger } from '@podwright/base';
import { handleService, type ListeningServer, serveServices } from '@podwright/grpc';
import type { Pod, ResourceClaim } from '@podwright/kube-api';
import { DRAPlugin } from '../dra-api.ts';
import { DraClaims } from './dra-claims.ts';
import { DraDrivers } from './dra-drivers.ts';

const NO_LISTENERS = { onUsable: () => undefined, onHealth: () => undefined, logger: silentLogger };
const never = new AbortController().signal;

const POD = podOf('1');

function podOf(uid: string, change: object = {}): Pod {
  return {
    metadata: { uid, name: `pod-${uid}`, namespace: 'default' },
    spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'template' }] },
    status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'pod-gpu' }] },
    ...change,
  } as unknown as Pod;
}

const claimOf = (change: object = {}, status: object = {}): ResourceClaim => ({
  metadata: {
    name: 'pod-gpu',
    namespace: 'default',
    uid: 'claim-1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'pod-1', uid: '1', controller: true }],
    ...change,
  },
  status: {
    allocation: { devices: { results: [{ driver: 'gpu.test' }] } },
    reservedFor: [
      { resource: 'pods', name: 'pod-1', uid: '1' },
      { resource: 'pods', name: 'pod-2', uid: '2' },
    ],
    ...status,
  },
});

/**
 * A fake driver that prepares two devices per claim, and the kubelet's claim state, which `reopen` reads from its file again, as after a
 * kubelet restart.
 */
class TestNode {
  readonly directory = mkdtempSync(join(tmpdir(), 'pwk-dra-'));
  readonly calls: string[] = [];
  claim: ResourceClaim | undefined = claimOf();
  error = '';
  answers = (uids: string[]) => uids;
  drivers!: DraDrivers;
  claims!: DraClaims;
  metrics!: Registry;

  get path(): string {
    return join(this.directory, 'dra_manager_state');
  }

  async open(context: TestContext): Promise<void> {
    const server = await this.#serve();
    context.after(async () => {
      this.drivers.stop();
      await server.close();
      rmSync(this.directory, { recursive: true });
    });
    await this.reopen();
  }

  async reopen(): Promise<void> {
    this.drivers?.stop();
    this.drivers = new DraDrivers(NO_LISTENERS);
    this.metrics = new Registry();
    const plugin = { name: 'gpu.test', endpoint: join(this.directory, 'dra.sock'), versions: ['v1.DRAPlugin'] };
    await this.drivers.register(plugin);
    this.claims = await DraClaims.open({
      drivers: this.drivers,
      path: this.path,
      logger: silentLogger,
      metrics: this.metrics,
      claim: async ({ name }) => {
        if (this.claim === undefined)
          throw new PodwrightError('not_found', `resourceclaims.resource.k8s.io "${name}" not found`);
        return this.claim;
      },
    });
  }

  async failure(pod = POD): Promise<string> {
    return await this.claims.prepare(pod, never).then(() => '', errorMessage);
  }

  #serve(): Promise<ListeningServer> {
    const answer = (call: string, uids: string[], found: object) => {
      this.calls.push(`${call} ${uids.join()}`);
      return { claims: Object.fromEntries(this.answers(uids).map((uid) => [uid, { ...found, error: this.error }])) };
    };
    const device = (deviceName: string, requestNames: string[]) => ({
      poolName: 'pool',
      deviceName,
      requestNames,
      cdiDeviceIds: [`test.com/gpu=${deviceName}`],
    });
    const devices = [device('a', ['big']), device('b', ['small']), device('c', [])];
    const service = handleService(DRAPlugin, {
      nodePrepareResources: async ({ claims }) =>
        answer(
          'prepare',
          claims.map(({ uid }) => uid),
          { devices },
        ),
      nodeUnprepareResources: async ({ claims }) =>
        answer(
          'unprepare',
          claims.map(({ uid }) => uid),
          {},
        ),
    });
    return serveServices([service], { socket: join(this.directory, 'dra.sock'), logger: silentLogger });
  }
}

test('operations, driver calls and claims in use have the same metrics as upstream', async (context) => {
  const node = new TestNode();
  await node.open(context);
  await node.claims.prepare(POD, never);
  const shown = async () =>
    (await node.metrics.metrics()).split('\n').filter((line) => /^dra_\w+_(count|in_use)\{/.test(line));
  const method = '/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources';
  const prepared = [
    'dra_operations_duration_seconds_count{operation_name="PrepareResources",is_error="false"} 1',
    `dra_grpc_operations_duration_seconds_count{driver_name="gpu.test",method_name="${method}",grpc_status_code="OK"} 1`,
  ];
  const inUse = (count: number) => `dra_resource_claims_in_use{driver_name="<any>"} ${count}`;
  assert.deepEqual(await shown(), [...prepared, inUse(1), 'dra_resource_claims_in_use{driver_name="gpu.test"} 1']);
  node.error = 'busy';
  await assert.rejects(node.claims.unprepare('1'), /busy/);
  node.error = '';
  await node.claims.unprepare('1');
  const lines = await shown();
  for (const failed of ['true', 'false'])
    assert.ok(
      lines.includes(
        `dra_operations_duration_seconds_count{operation_name="UnprepareResources",is_error="${failed}"} 1`,
      ),
    );
  assert.deepEqual(
    lines.filter((line) => line.includes('in_use')),
    [inUse(0)],
  );
});

test('a claim is prepared once for all of its pods, and unprepared after the last one', async (context) => {
  const node = new TestNode();
  await node.open(context);
  node.claim = claimOf({ ownerReferences: [] });
  const shared = { spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'pod-gpu' }] } };
  await node.claims.prepare(podOf('1', shared), never);
  await node.claims.prepare(podOf('2', shared), never);
  assert.deepEqual(node.calls, ['prepare claim-1']);
  await node.claims.unprepare('1');
  assert.deepEqual(node.calls, ['prepare claim-1']);
  await node.claims.unprepare('2');
  await node.claims.unprepare('2');
  assert.deepEqual(node.calls, ['prepare claim-1', 'unprepare claim-1']);
});

test('errors for claims that a pod may not use match upstream', async (context) => {
  const node = new TestNode();
  await node.open(context);
  const check = async (expected: string, claim: ResourceClaim | undefined, pod = POD) => {
    node.claim = claim;
    assert.equal(await node.failure(pod), expected);
  };
  await check('pod "default/pod-1": ResourceClaim not created yet', claimOf(), podOf('1', { status: undefined }));
  await check('fetch ResourceClaim pod-gpu: resourceclaims.resource.k8s.io "pod-gpu" not found', undefined);
  await check(
    'ResourceClaim default/pod-gpu was not created for Pod default/pod-1 (Pod is not owner)',
    claimOf({ ownerReferences: [] }),
  );
  await check('pod pod-1 (1) is not allowed to use ResourceClaim pod-gpu (claim-1)', claimOf({}, { reservedFor: [] }));
  await check('ResourceClaim pod-gpu: not allocated', claimOf({}, { allocation: undefined }));
  const other = { allocation: { devices: { results: [{ driver: 'other.test' }] } } };
  await check('DRA driver other.test is not registered', claimOf({}, other));
  assert.deepEqual(node.calls, []);
  node.error = 'no device';
  await check('NodePrepareResources failed for ResourceClaim pod-gpu: no device', claimOf());
  node.error = '';
  node.answers = () => [];
  await check('NodePrepareResources skipped 1 ResourceClaims', claimOf());
  node.answers = () => ['stranger'];
  await check('NodePrepareResources returned result for unknown claim UID stranger', claimOf());
  node.answers = (uids) => uids;
  await check('', claimOf());
  await check(
    'old ResourceClaim with same name pod-gpu and different UID claim-1 still exists (previous pod force-deleted?!)',
    claimOf({ uid: 'claim-2' }),
  );
});

test('a restarted kubelet restores the records of prepared claims, and unprepares those without a pod', async (context) => {
  const node = new TestNode();
  await node.open(context);
  await node.claims.prepare(POD, never);
  const { Data } = JSON.parse(readFileSync(node.path, 'utf8'));
  const record = JSON.parse(Data).ClaimInfoStateList[0];
  assert.deepEqual([record.ClaimUID, record.PodUIDs], ['claim-1', { 1: {} }]);
  await node.reopen();
  const { Devices } = node.claims.preparedIn('default')('pod-gpu')!.DriverState['gpu.test']!;
  assert.deepEqual(
    Devices?.map(({ DeviceName }) => DeviceName),
    ['a', 'b', 'c'],
  );
  await node.claims.keepOnly((uid) => uid === '1');
  assert.deepEqual(node.calls, ['prepare claim-1']);
  await node.drivers.deregister({ name: 'gpu.test', endpoint: join(node.directory, 'dra.sock'), versions: [] });
  await node.claims.keepOnly(() => false);
  await node.reopen();
  await node.claims.keepOnly(() => false);
  assert.deepEqual(node.calls, ['prepare claim-1', 'unprepare claim-1']);
});

test('a modified record file is rejected', async (context) => {
  const node = new TestNode();
  await node.open(context);
  await node.claims.prepare(POD, never);
  writeFileSync(node.path, readFileSync(node.path, 'utf8').replace('claim-1', 'claim-9'));
  await assert.rejects(node.reopen(), { code: 'data_loss', message: /dra_manager_state is corrupt: drain the node/ });
});

test('drivers are registered if they support one of the known services', () => {
  const drivers = new DraDrivers(NO_LISTENERS);
  const check = (versions: string[], expected: string) => {
    const validate = () => drivers.validate({ name: 'd', endpoint: '/s', versions });
    if (expected === '') validate();
    else
      assert.throws(validate, {
        message: `invalid supported gRPC versions of DRA driver plugin d at endpoint /s: ${expected}`,
      });
  };
  check(['v1.DRAPlugin', 'v1beta1.DRAPlugin'], '');
  check(['v1alpha1.DRAResourceHealth', 'v1beta1.DRAPlugin'], '');
  check([], 'empty list of supported gRPC services (aka supported versions)');
  check(
    ['v1alpha3.Node'],
    'none of services supported by the plugin (["v1alpha3.Node"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
  );
});
