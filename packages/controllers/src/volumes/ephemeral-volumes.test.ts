import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '@podwright/kube-client';
import type { Claim } from '../objects/storage.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { ephemeralVolumeController } from './ephemeral-volumes.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { accessModes: ['ReadWriteOnce'] } };

function put({ client }: TestPlace, name: string): void {
  const ephemeral = { volumeClaimTemplate: template };
  client.put<Pod>(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: `uid-${name}` },
    spec: { containers: [], volumes: [{ name: 'scratch', ephemeral }] },
  });
}

const claimOf = ({ client }: TestPlace, name: string) =>
  client.stored<Claim>(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name });

test('an ephemeral volume gets a claim controlled by its pod, and a new one if that is removed', async () => {
  await using place = new TestPlace(ephemeralVolumeController);
  put(place, 'web');
  await place.until(() => claimOf(place, 'web-scratch') !== undefined);
  const { metadata, spec } = claimOf(place, 'web-scratch')!;
  assert.deepEqual([metadata.labels, spec], [{ app: 'web' }, template.spec]);
  assert.deepEqual(metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true, blockOwnerDeletion: true },
  ]);
  place.client.remove(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: 'web-scratch' });
  await place.until(() => claimOf(place, 'web-scratch') !== undefined);
});

test('a claim with another owner is left alone, and reported', async () => {
  await using place = new TestPlace(ephemeralVolumeController);
  const metadata = { namespace: 'shop', name: 'web-scratch', uid: 'other' };
  place.client.put<Claim>(PERSISTENT_VOLUME_CLAIMS, { metadata, spec: {} });
  put(place, 'web');
  await place.until(() => place.events('FailedBinding').length > 0);
  assert.deepEqual(place.events('FailedBinding').slice(0, 1), [
    'ephemeral volume scratch: PVC shop/web-scratch was not created for pod shop/web (pod is not owner)',
  ]);
  assert.equal(claimOf(place, 'web-scratch')?.metadata.uid, 'other');
});
