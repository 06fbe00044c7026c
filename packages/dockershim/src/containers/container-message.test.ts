import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerState, Signal } from '@podwright/cri';
import { containerInspectionSchema } from '../engine/engine-types.ts';
import { criContainerStatus } from './container-message.ts';
import { engineStates, listedState } from './container-phase.ts';

const NEVER = '0001-01-01T00:00:00Z';
const CREATED = '2026-11-22T23:00:00.000000001Z';
const created = BigInt(Date.parse('2026-11-22T23:00:00Z')) * 1_000_000n + 1n;

/** Returns the CRI status of a container that the Engine reports with this state. */
function statusOf(
  state: object,
  changes: { config?: object; image?: { RepoTags: string[]; RepoDigests: string[] } } = {},
) {
  const inspection = containerInspectionSchema.parse({
    Id: 'c',
    Name: '/k8s_web_pod_default_u_3',
    Created: CREATED,
    Image: 'sha256:1f',
    State: { Status: 'exited', Running: false, Pid: 0, ExitCode: 0, StartedAt: NEVER, FinishedAt: NEVER, ...state },
    Config: { Image: 'asked:1', ...changes.config },
    HostConfig: {},
    NetworkSettings: {},
  });
  return criContainerStatus(inspection, changes.image);
}

test('a container’s state is derived from the Engine’s inspection', () => {
  const check = (state: object, expected: object) => {
    const { state: shown, exitCode, reason, startedAt, finishedAt } = { ...blank, ...statusOf(state) };
    assert.deepEqual({ state: shown, exitCode, reason, startedAt, finishedAt }, { ...blank, ...expected });
  };
  const blank = { exitCode: undefined, reason: undefined, startedAt: 0n, finishedAt: undefined };
  const began = { StartedAt: CREATED };
  const ended = { ...began, FinishedAt: CREATED };
  const times = { startedAt: created, finishedAt: created };
  const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;
  check({ Status: 'created' }, { state: CONTAINER_CREATED });
  check({ Status: 'running', Running: true, ...began }, { state: CONTAINER_RUNNING, startedAt: created });
  check({ Status: 'paused', Running: true, ...began }, { state: CONTAINER_RUNNING, startedAt: created });
  const exit = (exitCode: number, reason: string) => ({ state: CONTAINER_EXITED, exitCode, reason, ...times });
  check(ended, exit(0, 'Completed'));
  check({ ...ended, ExitCode: 3 }, exit(3, 'Error'));
  check({ ...ended, OOMKilled: true }, exit(0, 'OOMKilled'));
  check({ ...ended, StartedAt: '2026-11-22T23:00:00.000000002Z' }, exit(0, 'Completed'));
  check({ ...ended, Status: 'dead', ExitCode: 9 }, exit(9, 'Error'));
  check({ Status: 'created', ExitCode: 127 }, exit(127, 'ContainerCannotRun'));
});

test('a container’s image is reported by a pullable reference if it has one', () => {
  const refs = (image?: { RepoTags: string[]; RepoDigests: string[] }, userImage = '') => {
    const details = JSON.stringify({ labels: [], annotations: [], userImage });
    const status = statusOf({}, { image, config: { Image: 'asked:1', Labels: { 'io.podwright.details': details } } });
    return [(status.image as { image: string }).image, status.imageRef, status.imageId];
  };
  assert.deepEqual(refs(), ['asked:1', 'docker://sha256:1f', 'sha256:1f']);
  assert.deepEqual(refs({ RepoTags: ['a:1'], RepoDigests: [] }), ['a:1', 'docker://sha256:1f', 'sha256:1f']);
  const both = { RepoTags: ['a:1', 'h:5000/b:2'], RepoDigests: ['a@sha256:aa', 'h:5000/b@sha256:bb'] };
  assert.deepEqual(refs(both), ['a:1', 'docker-pullable://a@sha256:aa', 'sha256:1f']);
  assert.deepEqual(refs(both, 'h:5000/b:2'), ['h:5000/b:2', 'docker-pullable://h:5000/b@sha256:bb', 'sha256:1f']);
});

test('image labels are not reported for the container, unless another dockershim created it', () => {
  const Labels = { mine: '1', maintainer: 'x', 'annotation.a': '2', 'annotation.evil': '3' };
  const shown = (labels: object) => {
    const { labels: one, annotations } = statusOf({}, { config: { Labels: labels } });
    return [one, annotations];
  };
  const details = { 'io.podwright.details': JSON.stringify({ labels: ['mine', 'gone'], annotations: ['a'] }) };
  assert.deepEqual(shown({ ...Labels, ...details }), [{ mine: '1' }, { a: '2' }]);
  const all = [
    { mine: '1', maintainer: 'x' },
    { a: '2', evil: '3' },
  ];
  assert.deepEqual(shown(Labels), all);
  for (const broken of ['', '{', '[]', '{"labels":1}'])
    assert.deepEqual(shown({ ...Labels, 'io.podwright.details': broken }), all, broken);
});

test('user and stop signal are reported if the Engine provides them', () => {
  const of = (config: object) => statusOf({}, { config });
  assert.equal(of({ User: 'web' }).user, undefined);
  assert.equal(of({ User: '7' }).user, undefined);
  assert.deepEqual(of({ User: '7:8' }).user?.linux, { uid: 7n, gid: 8n, supplementalGroups: [8n] });
  assert.equal(of({}).stopSignal, Signal.SIGTERM);
  assert.equal(of({ StopSignal: 'SIGRTMIN+3' }).stopSignal, Signal.SIGRTMINPLUS3);
});

test('Engine and CRI states are mapped in both directions', () => {
  for (const [word, state] of Object.entries({ created: 0, running: 1, paused: 1, exited: 2, dead: 2, odd: 3 })) {
    assert.equal(listedState({ State: word }), state, word);
    if (word !== 'odd') assert.ok(engineStates(state).includes(word));
  }
  assert.deepEqual(engineStates(ContainerState.CONTAINER_UNKNOWN), []);
});
