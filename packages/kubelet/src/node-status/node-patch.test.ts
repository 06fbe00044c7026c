import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, NodeCondition, NodeStatus } from '@podwright/kube-api';
import { nodePatch } from './node-patch.ts';

const ready = (given: Partial<NodeCondition> = {}): NodeCondition => ({
  ...{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: 't1', lastTransitionTime: 't1' },
  ...given,
});
const memory = ready({ type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' });
const IP = { type: 'InternalIP', address: '10.0.0.7' } as const;
const HOST = { type: 'Hostname', address: 'n1' } as const;
const of = (status: NodeStatus, more: Partial<Node> = {}): Node => ({ metadata: { name: 'n1' }, status, ...more });

function check(before: Node, after: Node, expected: object): void {
  assert.deepEqual(nodePatch(before, after), expected);
}

test('without changes the patch is empty', () => {
  check(of({ conditions: [ready()], addresses: [IP] }), of({ conditions: [ready()], addresses: [IP] }), {});
});

test('conditions are patched by changed keys, including the order of all conditions', () => {
  check(
    of({ conditions: [memory, ready()] }),
    of({ conditions: [memory, ready({ lastHeartbeatTime: 't2', message: 'm', reason: undefined })] }),
    {
      status: {
        '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', lastHeartbeatTime: 't2', message: 'm', reason: null }],
      },
    },
  );
});

test('new conditions are sent in full', () => {
  check(of({}), of({ conditions: [ready()] }), { status: { conditions: [ready()] } });
  check(of({ conditions: [memory] }), of({ conditions: [memory, ready()] }), {
    status: {
      '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
      conditions: [ready()],
    },
  });
});

test('existing addresses are replaced as a whole', () => {
  check(of({ addresses: [IP, HOST] }), of({ addresses: [HOST] }), {
    status: { addresses: [HOST, { $patch: 'replace' }] },
  });
  check(of({}), of({ addresses: [HOST] }), { status: { addresses: [HOST] } });
});

test('maps are patched by key, lists are sent in full, removed keys are null', () => {
  check(
    of({ capacity: { cpu: '1', 'a/b': '2' }, images: [{ names: ['a'] }], volumesInUse: ['v'] }),
    of({ capacity: { cpu: '2' }, images: [{ names: ['a'] }, { names: ['b'] }] }),
    {
      status: { capacity: { cpu: '2', 'a/b': null }, images: [{ names: ['a'] }, { names: ['b'] }], volumesInUse: null },
    },
  );
});

test('labels and annotations are patched, but never the spec', () => {
  check(
    of({}, { metadata: { name: 'n1', labels: { a: '1', b: '1' } }, spec: { unschedulable: true } }),
    of({}, { metadata: { name: 'n1', labels: { a: '2' }, annotations: { c: '1' } } }),
    { metadata: { labels: { a: '2', b: null }, annotations: { c: '1' } } },
  );
});
