import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject } from '../client/object-client.ts';
import { kindOfWord } from '../client/object-names.ts';
import { renderOutline } from '../output/outline.ts';
import { describeNode } from './describe-objects.ts';
import { columnsOf } from './object-tables.ts';

const bare = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } } as NodeObject;
const describe = (node: NodeObject) => renderOutline(describeNode(node, [])).join('\n');

test('a Node whose kubelet has not written its status is described and listed', () => {
  assert.match(describe(bare), /^Conditions:\s+<none>$/m);
  assert.match(describe({ ...bare, status: {} }), /^Addresses:\s+<none>$/m);
  const columns = columnsOf(kindOfWord('nodes')!, { allNamespaces: false, withType: false });
  const cells = columns.map(({ title, cell }) => [title, cell(bare, 0)]).filter(([title]) => title !== 'AGE');
  assert.deepEqual(Object.fromEntries(cells), {
    NAME: 'n',
    STATUS: 'NotReady',
    ROLES: '<none>',
    VERSION: '-',
    'INTERNAL-IP': '-',
    'OS-IMAGE': '-',
    'KERNEL-VERSION': '-',
    'CONTAINER-RUNTIME': '-',
  });
});

test('the conditions of a Node are described with what is known of their reasons', () => {
  const conditions = [
    { type: 'Ready', status: 'False' as const, reason: 'KubeletNotReady', message: 'starting' },
    { type: 'Quiet', status: 'Unknown' as const },
  ];
  const text = describe({ ...bare, status: { conditions } });
  assert.match(text, /Ready:\s+False \(KubeletNotReady: starting\)/);
  assert.match(text, /Quiet:\s+Unknown$/m);
});
