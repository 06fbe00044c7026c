import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlowControl } from '@podwright/flow-control';
import { objectsAt, textAt, withValue } from '@podwright/kube-kinds';
import { keepFlows } from './keep-flows.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const SCHEMAS = 'flowschemas.flowcontrol.apiserver.k8s.io';
const LEVELS = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io';

const RULE = {
  subjects: [{ kind: 'User', user: { name: 'alice' } }],
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
};
const SPEC = { priorityLevelConfiguration: { name: 'slow' }, matchingPrecedence: 50, rules: [RULE] };

async function started() {
  const cluster = new TestCluster();
  const flowControl = new FlowControl();
  cluster.start((parts) => keepFlows({ ...parts, flowControl, now: () => cluster.nowMs }));
  await cluster.until(() => cluster.find(SCHEMAS, 'catch-all')?.status !== undefined);
  const info = { isResourceRequest: true, path: '', verb: 'get', apiGroup: '', resource: 'pods', subresource: '' };
  const classify = (username: string) =>
    flowControl.classify({
      user: { username, groups: ['system:authenticated'] },
      caller: username,
      info: { ...info, namespace: 'n' },
    });
  const dangling = (name: string) => {
    const conditions = objectsAt(cluster.find(SCHEMAS, name), 'status', 'conditions');
    return conditions.map((one) => `${textAt(one, 'type')}=${textAt(one, 'status')} ${textAt(one, 'reason')}`).join();
  };
  return { cluster, classify, dangling };
}

test('a new cluster has upstream’s FlowSchemas and priority levels, and they take effect', async () => {
  const { cluster, classify, dangling } = await started();
  await using _ = cluster;
  assert.equal(cluster.store.list(SCHEMAS).objects.length, 11);
  assert.equal(cluster.store.list(LEVELS).objects.length, 8);
  const { schema, level } = classify('alice');
  assert.deepEqual([schema.name, level.name], ['global-default', 'global-default']);
  assert.equal(schema.uid, cluster.find(SCHEMAS, 'global-default')!.metadata.uid);
  await cluster.until(() => dangling('probes') !== '');
  assert.equal(dangling('probes'), 'Dangling=False Found');
  await cluster.atRest();
  assert.deepEqual(cluster.warnings, []);
});

test('a user’s FlowSchema takes effect once its priority level exists, and its condition reports that', async () => {
  const { cluster, classify, dangling } = await started();
  await using _ = cluster;
  await cluster.create(SCHEMAS, 'alice', { spec: SPEC });
  await cluster.until(() => dangling('alice') === 'Dangling=True NotFound');
  assert.equal(classify('alice').schema.name, 'global-default');
  const limited = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
  await cluster.create(LEVELS, 'slow', { spec: { type: 'Limited', limited } });
  await cluster.until(() => dangling('alice') === 'Dangling=False Found');
  assert.deepEqual([classify('alice').level.name, classify('bob').level.name], ['slow', 'global-default']);
  await cluster.change(SCHEMAS, 'alice', (one) => withValue(one, ['spec', 'matchingPrecedence'], 9950));
  await cluster.until(() => classify('alice').level.name === 'global-default');
  await cluster.delete(LEVELS, 'slow');
  await cluster.until(() => dangling('alice') === 'Dangling=True NotFound');
});
