import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event, Pod } from '@podwright/kube-api';
import { claimWait } from './claim-wait.ts';

const event = (kind: string, name: string, reason: string, second = 0) =>
  ({
    involvedObject: { kind, namespace: 'shop', name },
    ...{ reason, message: `${reason} of ${name}`, lastTimestamp: `2026-01-01T00:00:0${second}Z` },
  }) as Event;

const pod = (nodeName?: string) =>
  ({
    metadata: { namespace: 'shop', name: 'db-0' },
    spec: {
      nodeName,
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
        { name: 'scratch', ephemeral: {} },
      ],
    },
    status: { phase: 'Pending' },
  }) as unknown as Pod;

test('an unscheduled pod’s reason for waiting is the last event of its claims', () => {
  const events = [
    event('PersistentVolumeClaim', 'data-db-0', 'ProvisioningFailed', 2),
    event('PersistentVolumeClaim', 'data-db-0', 'ExternalProvisioning', 1),
    event('PersistentVolumeClaim', 'data-db-0', 'WaitForFirstConsumer', 3),
    event('PersistentVolumeClaim', 'data-db-1', 'ProvisioningFailed', 4),
    event('Pod', 'data-db-0', 'Failed', 5),
  ];
  assert.equal(claimWait(pod(), events), 'claim data-db-0: ProvisioningFailed: ProvisioningFailed of data-db-0');
  const ofEphemeral = [event('PersistentVolumeClaim', 'db-0-scratch', 'ProvisioningFailed')];
  assert.match(claimWait(pod(), ofEphemeral) ?? '', /^claim db-0-scratch: /);
  assert.equal(claimWait(pod('n'), events), undefined);
  assert.equal(claimWait(pod(), events.slice(2)), undefined);
});
