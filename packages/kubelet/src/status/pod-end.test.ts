import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerState, ContainerStatus, Pod } from '@podwright/kube-api';
import { endedStatuses } from './pod-end.ts';

const STATES: Record<string, [ContainerState, ContainerState?]> = {
  waiting: [{ waiting: {} }],
  crashed: [{ waiting: {} }, { terminated: { exitCode: 1 } }],
  running: [{ running: { startedAt: 'then' } }],
  done: [{ terminated: { exitCode: 0 } }],
};

const statusOf = (state: string, index: number): ContainerStatus => {
  const [now, last = {}] = STATES[state]!;
  const about = { name: `c${index}`, image: '', imageID: '', restartCount: 0, ready: false };
  return { ...about, state: now, lastState: last };
};

/** Checks the exit codes that `endedStatuses` returns for the given init and main containers. `-` stands for a waiting container. */
function check(init: string[], main: string[], expected: string, sidecar = false): void {
  const restartPolicy = sidecar ? ('Always' as const) : undefined;
  const initContainers = init.map((_, index): Container => ({ name: `c${index}`, image: '', restartPolicy }));
  const pod = { spec: { containers: [], ...(init.length > 0 && { initContainers }) } } as unknown as Pod;
  const ended = endedStatuses(pod, { init: init.map(statusOf), main: main.map(statusOf) });
  const shown = (list: ContainerStatus[]) => list.map(({ state }) => state.terminated?.exitCode ?? '-').join(' ');
  assert.equal(`${shown(ended.init)} / ${shown(ended.main)}`, expected, `${init} / ${main}`);
}

test('a container with an unobserved exit has failed', () => {
  check([], ['running', 'done'], ' / 137 0');
  check([], ['waiting', 'crashed'], ' / 137 137');
  check(['done'], ['waiting'], '0 / 137');
});

test('in an uninitialized pod only containers that may have started have failed', () => {
  check(['running', 'waiting'], ['waiting'], '137 - / -');
  check(['done', 'crashed', 'waiting'], ['waiting'], '0 137 - / -');
  check(['waiting', 'waiting'], ['waiting'], '137 - / -');
  check(['done', 'waiting'], ['crashed'], '0 - / 137');
  check(['waiting'], ['waiting'], '137 / -', true);
});
