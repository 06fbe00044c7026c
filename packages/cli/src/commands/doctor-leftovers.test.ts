import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftoverFinding, leftoverFindings } from './doctor-leftovers.ts';

test('leftover addresses and tables of an ended node are listed with the node', async () => {
  assert.deepEqual(await leftoverFindings('/none'), []);
  const left = { addresses: ['10.96.0.1', '10.96.0.10'], tables: ['podwright-services-10-96-0-0-12'] };
  assert.equal(
    leftoverFinding({ ...left, root: '/srv/node' }).message,
    'by the node with the root /srv/node, which has ended: 10.96.0.1 and 10.96.0.10 on the loopback interface; nf_tables podwright-services-10-96-0-0-12',
  );
  const { message } = leftoverFinding({ root: undefined, addresses: ['10.96.0.1'], tables: [] });
  assert.equal(message, 'by a node that has ended: 10.96.0.1 on the loopback interface');
});
