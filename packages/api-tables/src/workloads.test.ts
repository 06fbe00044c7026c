import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';
import { goSelectorText, requirementsOf } from './selector-text.ts';

const containers = ['a', 'b'].map((name) => ({ name, image: `image-${name}` }));
const template = { spec: { containers, nodeSelector: { disk: 'ssd' } } };
const selector = { matchLabels: { foo: 'bar' } };
const WIDE = { Containers: 'a,b', Images: 'image-a,image-b' };

test('replica sets and controllers show desired, current and ready pods', () => {
  const status = { replicas: 10, readyReplicas: 2 };
  const expected = { Desired: 5, Current: 10, Ready: 2, ...WIDE, Selector: 'foo=bar' };
  checkRow('ReplicaSet.apps', { spec: { replicas: 5, template, selector }, status }, expected);
  checkRow('ReplicationController', { spec: { replicas: 5, template, selector: { foo: 'bar' } }, status }, expected);
  const none = { Desired: 0, Current: 0, Ready: 0, Containers: '', Selector: '<none>' };
  checkRow('ReplicationController', { spec: {} }, none);
  checkRow('ReplicaSet.apps', { spec: {} }, none);
});

test('deployments and stateful sets show ready out of desired pods', () => {
  const status = { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 3 };
  const object = { spec: { replicas: 5, template, selector }, status };
  checkRow('Deployment.apps', object, { Ready: '1/5', 'Up-to-date': 2, Available: 3, ...WIDE, Selector: 'foo=bar' });
  checkRow('Deployment.apps', { spec: { replicas: 1 } }, { Ready: '0/1', 'Up-to-date': 0, Selector: '' });
  checkRow('StatefulSet.apps', object, { Ready: '1/5', ...WIDE });
});

test('daemon sets show node counts', () => {
  const status = {
    ...{ desiredNumberScheduled: 5, currentNumberScheduled: 4, numberReady: 3 },
    ...{ updatedNumberScheduled: 2, numberAvailable: 1 },
  };
  checkRow(
    'DaemonSet.apps',
    { spec: { template, selector }, status },
    {
      Desired: 5,
      Current: 4,
      Ready: 3,
      'Up-to-date': 2,
      Available: 1,
      'Node Selector': 'disk=ssd',
      ...WIDE,
      Selector: 'foo=bar',
    },
  );
  checkRow('DaemonSet.apps', { spec: {} }, { Desired: 0, 'Node Selector': '<none>' });
});

test('controller revisions show their controller', () => {
  const check = (owner: object, Controller: string) =>
    checkRow(
      'ControllerRevision.apps',
      { metadata: { ownerReferences: [owner] }, revision: 3 },
      { Controller, Revision: 3 },
    );
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'Foo' };
  check({ ...owner, controller: true }, 'daemonset.apps/Foo');
  check({ ...owner, apiVersion: 'v1', controller: true }, 'daemonset/Foo');
  check({ ...owner, controller: false }, '<none>');
  const others = [owner, { ...owner, name: 'b', controller: true }, { ...owner, name: 'c' }];
  checkRow('ControllerRevision.apps', { metadata: { ownerReferences: others } }, { Controller: 'daemonset.apps/b' });
  checkRow('ControllerRevision.apps', {}, { Controller: '<none>', Revision: 0 });
});

test('scales show desired and current pods', () => {
  checkRow('Scale.autoscaling', { spec: { replicas: 2 }, status: { replicas: 1 } }, { Desired: 2, Available: 1 });
});

test('selectors are sorted by key', () => {
  const matchExpressions = [
    { key: 'n', operator: 'NotIn', values: ['y', 'x'] },
    { key: 'i', operator: 'In', values: ['z'] },
    { key: 'e', operator: 'Exists' },
    { key: 'd', operator: 'DoesNotExist' },
  ];
  const all = { matchLabels: { z: '1', f: '' }, matchExpressions };
  assert.equal(requirementsOf(all), '!d,e,f=,i in (z),n notin (x,y),z=1');
  assert.equal(requirementsOf(undefined), '');
  assert.equal(
    goSelectorText({ matchLabels: { b: '1', a: '2' }, matchExpressions: matchExpressions.slice(0, 1) }),
    '&LabelSelector{MatchLabels:map[string]string{a: 2,b: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:n,Operator:NotIn,Values:[y x],},},}',
  );
});
