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

test('a volume that comes into use again is told anew: a report without it may be on its way', async () => {
  const inUse = new VolumesInUse(() => undefined);
  inUse.want(PLACES[0], 'v', { attachable: true });
  inUse.reported(['v'], ['v']);
  await inUse.untilAttached('v', never);
  inUse.leave(isFirst);
  inUse.free('v');
  assert.deepEqual(inUse.names(), [], 'which a report takes with it');
  inUse.want(PLACES[1], 'v', { attachable: true });
  const attached = inUse.untilAttached('v', never);
  assert.equal(await isPending(attached), true);
  inUse.reported([], ['v']);
  assert.equal(await isPending(attached), true);
  inUse.reported(['v'], ['v']);
  await attached;
});

test('a volume that a pod wants stays in use, whoever takes it from another', () => {
  const inUse = new VolumesInUse(() => undefined);
  for (const place of PLACES) inUse.want(place, 'v', { attachable: true });
  inUse.leave(isFirst);
  inUse.free('v');
  assert.deepEqual(inUse.names(), ['v']);
});

test('where no controller attaches, nobody waits for one to say that a volume is attached', async () => {
  const inUse = new VolumesInUse(() => undefined, { isUntold: true });
  inUse.want(PLACES[0], 'v', { attachable: true });
  const attached = inUse.untilAttached('v', never);
  assert.equal(await isPending(attached), true);
  inUse.reported(['v'], []);
  await attached;
});
