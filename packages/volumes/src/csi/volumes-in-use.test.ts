import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { VolumesInUse } from './volumes-in-use.ts';

const never = new AbortController().signal;
const PLACES = ['/pods/a/v', '/pods/b/v'] as const;
const isFirst = (place: string) => place === PLACES[0];

async function isPending(work: Promise<void>): Promise<boolean> {
  return await Promise.race([work.then(() => false), sleep(20, true)]);
}

test('a volume that is in use again is reported again, as a report without it may be in flight', async () => {
  const inUse = new VolumesInUse(() => undefined);
  inUse.request(PLACES[0], 'v', { attachable: true });
  inUse.reported(['v'], ['v']);
  await inUse.untilAttached('v', never);
  inUse.removePlaces(isFirst);
  inUse.free('v');
  assert.deepEqual(inUse.names(), [], 'a report now lists no volume');
  inUse.request(PLACES[1], 'v', { attachable: true });
  const attached = inUse.untilAttached('v', never);
  assert.equal(await isPending(attached), true);
  inUse.reported([], ['v']);
  assert.equal(await isPending(attached), true);
  inUse.reported(['v'], ['v']);
  await attached;
});

test('a volume required by one pod remains in use when it is removed from another', () => {
  const inUse = new VolumesInUse(() => undefined);
  for (const place of PLACES) inUse.request(place, 'v', { attachable: true });
  inUse.removePlaces(isFirst);
  inUse.free('v');
  assert.deepEqual(inUse.names(), ['v']);
});

test('without an attach/detach controller no volume waits to be listed as attached in the Node object', async () => {
  const inUse = new VolumesInUse(() => undefined, { hasNoController: true });
  inUse.request(PLACES[0], 'v', { attachable: true });
  const attached = inUse.untilAttached('v', never);
  assert.equal(await isPending(attached), true);
  inUse.reported(['v'], []);
  await attached;
});
