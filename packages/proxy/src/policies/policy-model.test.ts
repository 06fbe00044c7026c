import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { PolicyModel } from './policy-model.ts';

const pod = (name: string, last: number, more: Partial<Pod['spec']> = {}, phase = 'Running'): Pod =>
  ({
    metadata: { namespace: 'default', name, labels: { app: name } },
    spec: { nodeName: 'here', containers: [], ...more },
    status: { phase, podIPs: [{ ip: `10.1.0.${last}` }] },
  }) as unknown as Pod;
const policy = { metadata: { namespace: 'default', name: 'p' }, spec: { podSelector: {} } };

/** Refreshes the model and returns the changed sets as `SET +ADDED -REMOVED`, with the numbers of elements. */
const change = (model: PolicyModel): string => {
  model.refresh();
  const { elements } = model.ledger.takeChange();
  return elements.map(({ set, add, remove }) => `${set} +${add.length} -${remove.length}`).join(', ');
};

test('a pod update changes the rules only if its address, labels or node change', () => {
  const model = new PolicyModel('here', silentLogger);
  assert.ok(model.setPolicy(policy, true));
  assert.ok(model.setPod(pod('a', 1), true));
  assert.equal(change(model), 'ingress4 +1 -0, itself4 +1 -0');
  assert.ok(model.isolates);
  assert.ok(!model.setPod({ ...pod('a', 1), status: { ...pod('a', 1).status!, message: 'new' } }, true));
  assert.equal(change(model), '');
  assert.ok(model.setPod(pod('a', 2), true));
  assert.equal(change(model), 'ingress4 +1 -1, itself4 +1 -1');
  assert.ok(model.setPod(pod('a', 2), false));
  assert.equal(change(model), 'ingress4 +0 -1, itself4 +0 -1');
  assert.ok(!model.isolates);
});

test('pods that use the node’s address, have no address or have ended are not isolated', () => {
  const model = new PolicyModel('here', silentLogger);
  model.setPolicy(policy, true);
  model.setPod(pod('host', 1, { hostNetwork: true }), true);
  model.setPod(pod('ended', 2, {}, 'Succeeded'), true);
  model.setPod({ ...pod('new', 3), status: { phase: 'Pending' } }, true);
  model.setPod(pod('elsewhere', 4, { nodeName: 'there' }), true);
  assert.equal(change(model), '');
});

test('labels of a namespace change the rules of peers that select it', () => {
  const model = new PolicyModel('here', silentLogger);
  const namespaceSelector = { matchLabels: { team: 'x' } };
  model.setPolicy(
    { ...policy, spec: { podSelector: {}, ingress: [{ from: [{ namespaceSelector }] }] } } as never,
    true,
  );
  model.setPod(pod('a', 1), true);
  const namespace = (labels: Record<string, string>) => ({ metadata: { name: 'default', labels } });
  assert.ok(model.setNamespace(namespace({}), true));
  change(model);
  assert.ok(model.setNamespace(namespace({ team: 'x' }), true));
  assert.match(change(model), /^pods-\w+ \+1 -0$/);
  assert.ok(!model.setNamespace(namespace({ team: 'x' }), true));
  assert.ok(model.setNamespace(namespace({ team: 'x' }), false));
  assert.match(change(model), /^pods-\w+ \+0 -1$/);
});
