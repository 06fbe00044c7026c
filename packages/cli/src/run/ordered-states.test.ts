import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { OrderedStates } from './ordered-states.ts';
import { podOf, RUNNING, status } from './pod.fixture.ts';

const named = (uid: string, restartCount: number): Pod => {
  const pod = podOf({ containers: [status('a', RUNNING, { restartCount })] });
  return { ...pod, metadata: { ...pod.metadata, uid } };
};

test('a state is shown after earlier states, and after the logs of the terminations it reports', async () => {
  const shown: string[] = [];
  const logs = new Map([['slow 1', Promise.withResolvers<void>()]]);
  const keyOf = (pod: Pod) => `${pod.metadata.uid} ${pod.status!.containerStatuses![0]!.restartCount}`;
  const states = new OrderedStates(
    { pod: (pod) => void shown.push(keyOf(pod)) },
    { endsShown: (pod) => logs.get(keyOf(pod))?.promise },
  );
  for (const restarts of [0, 1, 2]) states.show(named('slow', restarts));
  states.show(named('other', 5));
  await new Promise(setImmediate);
  assert.deepEqual(shown, ['slow 0', 'other 5']);
  shown.push('the log');
  logs.get('slow 1')!.resolve();
  await states.caughtUp();
  assert.deepEqual(shown, ['slow 0', 'other 5', 'the log', 'slow 1', 'slow 2']);
});

test('an endless log delays a state only for a limited time', async () => {
  const shown: string[] = [];
  const view = { pod: (pod: Pod) => void shown.push(pod.metadata.uid) };
  const states = new OrderedStates(view, { endsShown: () => new Promise(() => undefined) });
  states.show(named('a', 1));
  await states.caughtUp();
  assert.deepEqual(shown, ['a']);
});
