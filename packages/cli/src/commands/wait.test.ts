import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject, ObjectChange, ObjectClient } from '../client/object-client.ts';
import { type ObjectKind, parseObjects } from '../client/object-names.ts';
import { type WaitOptions, waitForAll } from './wait.ts';

const pod = (name: string) =>
  ({
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as ApiObject;
const listed = { type: 'listed' } as const;
const added = (name: string): ObjectChange => ({ type: 'ADDED', object: pod(name) });

/**
 * A fake node whose watches of a kind send one entry of changes each, in order, and then stay silent. This lets tests change objects
 * between two watches.
 */
function node(watches: Record<string, ObjectChange[][]>): Pick<ObjectClient, 'watch'> {
  return {
    async *watch({ plural }: ObjectKind, _query, signal) {
      yield* watches[plural]!.shift()!;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
}

function wait(client: Pick<ObjectClient, 'watch'>, what: string, options: Partial<WaitOptions> & { for: string[] }) {
  const all = { namespace: 'default', all: true, timeout: 5000, ...options };
  return waitForAll(client, parseObjects([what]), all);
}

test('all conditions apply to the objects matched by the first one', async () => {
  const conditions = { for: ['condition=Ready', 'jsonpath={.status.phase}=Running'] };
  const both = [added('web'), added('worker'), listed];
  await wait(node({ pods: [both, both] }), 'pods', conditions);
  await assert.rejects(wait(node({ pods: [both, [added('web'), listed]] }), 'pods', conditions), {
    code: 'failed_precondition',
    message: 'wait: pod/worker was deleted meanwhile',
  });
});

test('one object of any type suffices, but none is an error', async () => {
  const some = () =>
    node({
      pods: [[listed], [listed]],
      configmaps: [
        [added('web'), listed],
        [added('web'), listed],
      ],
    });
  const none = () => node({ pods: [[listed]], configmaps: [[listed]] });
  await wait(some(), 'pods,cm', { for: ['create', 'condition=Ready'] });
  await assert.rejects(wait(none(), 'pods,cm', { for: ['create'], timeout: 1 }), { code: 'deadline_exceeded' });
  await assert.rejects(wait(none(), 'pods,cm', { for: ['condition=Ready'] }), {
    code: 'not_found',
    message: 'wait: no pods, configmaps match',
  });
  await wait(none(), 'pods,cm', { for: ['delete'] });
});

test('a timeout beyond the limit of setTimeout does not fire at once', async () => {
  const client: Pick<ObjectClient, 'watch'> = {
    async *watch(_kind, _query, signal) {
      yield listed;
      await sleep(20);
      if (!signal.aborted) yield added('web');
    },
  };
  await wait(client, 'pods', { for: ['create'], timeout: 600 * 3_600_000 });
});
