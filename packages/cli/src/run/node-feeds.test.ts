import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '@podwright/kube-api';
import type { EventWatchEvent, ImageTransfer } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { HeldEvents } from './held-events.ts';
import { showEvents } from './node-feeds.ts';
import type { RunView } from './run-view.ts';

type ShownOptions = { uid?: string; old?: Set<string>; atMs?: number; held?: HeldEvents };

/**
 * Passes events with these reasons, about the pod with this UID, to an event feed for the pod `u`. Returns the lines and warnings that the
 * feed shows.
 */
async function shown(
  reasons: string[],
  { uid = 'u', old = new Set<string>(), atMs = Date.now(), held }: ShownOptions = {},
): Promise<{ shown: string[]; warnings: string[][] }> {
  const lines: string[] = [];
  const lastTimestamp = `${new Date(atMs).toISOString().slice(0, 19)}Z`;
  const client = {
    async *watchEvents(): AsyncGenerator<EventWatchEvent> {
      for (const reason of reasons) {
        const type = reason.startsWith('Failed') ? 'Warning' : 'Normal';
        const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p', uid };
        yield { type: 'ADDED', object: { type, reason, message: 'm', involvedObject, lastTimestamp } as Event };
      }
    },
    async *watchTransfers(): AsyncGenerator<ImageTransfer> {
      lines.push('transfers requested');
      yield { reference: 'i' } as ImageTransfer;
    },
  } as unknown as NodeClient;
  const view = {
    event: ({ reason }: Event) => lines.push(reason),
    transfer: ({ reference }: ImageTransfer) => lines.push(reference),
  } as unknown as RunView;
  const warnings = new Map<string, Event>();
  const feed = { client, view, onTransfer: () => lines.push('progress'), signal: new AbortController().signal };
  await showEvents({ ...feed, uids: () => new Set(['u']), held, old, warnings });
  return { shown: lines, warnings: [...warnings].map(([uid, { reason, message }]) => [uid, reason, message]) };
}

test('image transfers are requested once, and only if an image of the pods is pulled', async () => {
  assert.deepEqual((await shown(['Scheduled', 'Pulled', 'Started'])).shown, ['Scheduled', 'Pulled', 'Started']);
  assert.deepEqual((await shown(['Pulling'], { uid: 'other' })).shown, []);
  const pulls = await shown(['Pulling', 'FailedMount', 'Pulling']);
  assert.deepEqual(pulls.shown.toSorted(), [
    'FailedMount',
    'Pulling',
    'Pulling',
    'i',
    'progress',
    'transfers requested',
  ]);
  assert.deepEqual(pulls.warnings, [['u', 'FailedMount', 'm']]);
});

test('earlier events of an existing pod are not shown as new', async () => {
  const old = new Set(['u']);
  const before = await shown(['Pulling', 'Started', 'FailedMount'], { old, atMs: Date.now() - 5000 });
  assert.deepEqual(before.shown, []);
  assert.deepEqual(before.warnings, [['u', 'FailedMount', 'm']]);
  assert.deepEqual((await shown(['Killing'], { old })).shown, ['Killing']);
});

test('events already reflected in a container’s state are not shown', async () => {
  const { shown: lines, warnings } = await shown(['Failed', 'BackOff']);
  assert.deepEqual([lines, warnings], [[], []]);
});

test('an event that arrives before its pod is held until the pod is known', async () => {
  const held = new HeldEvents();
  const { shown: lines } = await shown(['FailedScheduling'], { uid: 'later', held });
  assert.deepEqual([lines, held.take('u')], [[], []]);
  assert.deepEqual(
    held.take('later').map(({ reason }) => reason),
    ['FailedScheduling'],
  );
  assert.deepEqual(held.take('later'), []);
  await shown(['FailedScheduling'], { uid: 'later', held, atMs: Date.now() - 5000 });
  assert.deepEqual(held.take('later'), [], 'events from before the run are of no use');
});
