import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import type { CallContext } from '@podwright/grpc';
import { openDatabase } from '@podwright/metadata';
import type { ContainerRecord } from '../../records/container-record.ts';
import { RecordClock } from '../../records/ids.ts';
import { LifecycleEvents } from '../../records/lifecycle-events.ts';
import { openPodTables } from '../../records/pod-tables.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import { events } from './events.ts';

const config = { podName: 'web', podUid: 'u', podNamespace: 'default', attempt: 0, labels: {}, annotations: {} };

function recordOf(id: string): SandboxRecord {
  const state = { phase: 'ready' } as const;
  return { id, name: id, config, state, createdAtMs: 0, ips: [] } as unknown as SandboxRecord;
}

function open() {
  const database = openDatabase(':memory:');
  const { sandboxes, containers } = openPodTables(database, () => undefined);
  const source = new LifecycleEvents({ sandboxes, containers, clock: new RecordClock() });
  const handler = events({ events: source, images: { find: () => undefined } as never });
  const subscribe = (signal = new AbortController().signal) =>
    handler({ $typeName: 'runtime.v1.GetEventsRequest' }, { signal } as CallContext)[Symbol.asyncIterator]();
  return { sandboxes, containers, source, subscribe };
}

test('a subscriber that reads too slowly receives the queued events, followed by resource_exhausted', async () => {
  const { sandboxes, source, subscribe } = open();
  const slow = subscribe();
  const record = sandboxes.put(recordOf('s1'));
  for (let index = 0; index < 9_900; index++) source.publish('started', record);
  const quick = subscribe();
  for (let index = 0; index < 200; index++) {
    source.publish('started', record);
    assert.equal((await quick.next()).done, false, 'a subscriber that reads in time is not affected');
  }
  let queued = 0;
  const rest = async () => {
    while (!(await slow.next()).done) queued++;
  };
  await assert.rejects(rest(), (error) => errorCode(error) === 'resource_exhausted');
  assert.ok(queued > 0 && queued <= 10_000, `${queued} were queued`);
});

test('an event has the sandbox state at its time, even if the sandbox has been removed since', async () => {
  const { sandboxes, source, subscribe } = open();
  const reader = subscribe();
  const record = sandboxes.put(recordOf('s1'));
  source.publish('started', record);
  source.publish('stopped', sandboxes.put({ ...record, state: { phase: 'stopped' } }));
  sandboxes.delete('s1');
  source.publish('deleted', { ...record, state: { phase: 'removing' } });
  const received = [];
  for (let index = 0; index < 3; index++) {
    const { value } = await reader.next();
    received.push([value.containerEventType, value.podSandboxStatus?.state]);
  }
  assert.deepEqual(received, [
    [1, 0],
    [2, 1],
    [3, 1],
  ]);
});

test('an event excludes containers that are still being created', async () => {
  const { sandboxes, containers, source, subscribe } = open();
  const reader = subscribe();
  const record = sandboxes.put(recordOf('s1'));
  const creating = { id: 'c1', name: 'c1', sandboxId: 's1', state: { phase: 'creating' } };
  containers.put(creating as unknown as ContainerRecord);
  source.publish('started', record);
  assert.deepEqual((await reader.next()).value.containersStatuses, []);
});

test('a subscription ends with its call', async () => {
  const { source, sandboxes, subscribe } = open();
  const leave = new AbortController();
  const reader = subscribe(leave.signal);
  leave.abort();
  source.publish('started', sandboxes.put(recordOf('s1')));
  assert.equal((await reader.next()).done, true);
});
