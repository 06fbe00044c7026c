import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '@podwright/kube-api';
import type { EventWatchEvent, ImageTransfer } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { showEvents } from './node-feeds.ts';
import type { RunView } from './run-view.ts';

/** What is shown of these events of a pod `u`, and of another. */
async function shown(
  reasons: string[],
  { uid = 'u', old = new Set<string>(), atMs = Date.now() } = {},
): Promise<{ shown: string[]; warnings: Map<string, string> }> {
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
      lines.push('asked for transfers');
      yield { reference: 'i' } as ImageTransfer;
    },
  } as unknown as NodeClient;
  const view = {
    event: ({ reason }: Event) => lines.push(reason),
    transfer: ({ reference }: ImageTransfer) => lines.push(reference),
  } as unknown as RunView;
  const warnings = new Map<string, string>();
  const feed = { client, view, onTransfer: () => lines.push('progress'), signal: new AbortController().signal };
  await showEvents({ ...feed, uids: new Set(['u']), old, warnings });
  return { shown: lines, warnings };
}

test('a node is asked for transfers of images once, and only when an image of the pods is pulled', async () => {
  assert.deepEqual((await shown(['Scheduled', 'Pulled', 'Started'])).shown, ['Scheduled', 'Pulled', 'Started']);
  assert.deepEqual((await shown(['Pulling'], { uid: 'other' })).shown, []);
  const pulls = await shown(['Pulling', 'FailedMount', 'Pulling']);
  assert.deepEqual(pulls.shown.toSorted(), [
    'FailedMount',
    'Pulling',
    'Pulling',
    'asked for transfers',
    'i',
    'progress',
  ]);
  assert.deepEqual([...pulls.warnings], [['u', 'FailedMount: m']]);
});

test('what happened before to a pod that stood is not shown as if it happened now', async () => {
  const old = new Set(['u']);
  const before = await shown(['Pulling', 'Started', 'FailedMount'], { old, atMs: Date.now() - 5000 });
  assert.deepEqual(before.shown, []);
  assert.deepEqual([...before.warnings], [['u', 'FailedMount: m']]);
  assert.deepEqual((await shown(['Killing'], { old })).shown, ['Killing']);
});

test('what the state of a container says too is not shown as an event', async () => {
  const { shown: lines, warnings } = await shown(['Failed', 'BackOff']);
  assert.deepEqual([lines, [...warnings]], [[], []]);
});
