import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';
import { exitCodeOf, isProven, isSettled, isWell, lacksImage, lostContainers } from './pod-end.ts';

const up = status('a', RUNNING, { ready: true });
const done = status('b', ended(0));
const broken = status('b', ended(3));

test('a pod is settled once it is ready, or none of its containers can become ready', () => {
  const check = (pod: Pod, expected: boolean) => assert.equal(isSettled(pod), expected);
  check(podOf({ containers: [up], ready: true }), true);
  check(podOf({ containers: [status('a', RUNNING)] }), false);
  check(podOf({ containers: [broken], restartPolicy: 'Never', phase: 'Failed' }), true);
  for (const container of [done, broken]) {
    check(podOf({ containers: [up, container], restartPolicy: 'Never' }), true);
    check(podOf({ containers: [status('a', RUNNING), container], restartPolicy: 'Never' }), false);
    check(podOf({ containers: [up, container] }), false);
  }
  check(podOf({ containers: [up, done], restartPolicy: 'OnFailure' }), true);
  check(podOf({ containers: [up, broken], restartPolicy: 'OnFailure' }), false);
  check({ ...podOf({ containers: [up] }), status: undefined }, false);
});

test('a pod with a nonexistent image is settled, but not one with an unreachable registry', () => {
  const check = (reason: string, message: string, expected: boolean) => {
    const waiting = { waiting: { reason, message } };
    const pod = podOf({ containers: [status('a', {}), status('b', waiting)], phase: 'Pending' });
    assert.equal(lacksImage(podOf({ containers: [up, status('b', waiting)] })), false, 'others run');
    assert.equal(lacksImage(podOf({ containers: [status('b', waiting, { restartCount: 1 })] })), false, 'it ran once');
    assert.equal(lacksImage(pod), expected, message);
    assert.equal(isSettled(pod), expected);
    assert.equal(isProven(pod), expected);
  };
  const failed = (code: string) => `rpc error: code = ${code} desc = pull x:1: why`;
  check('ErrImageNeverPull', 'not present', true);
  check('InvalidImageName', 'no name', true);
  for (const code of ['NotFound', 'Unauthenticated', 'PermissionDenied', 'InvalidArgument']) {
    check('ErrImagePull', failed(code), true);
    check('ImagePullBackOff', `Back-off pulling image "x:1": ErrImagePull: ${failed(code)}`, true);
  }
  for (const code of ['Unavailable', 'Unknown', 'ResourceExhausted', 'DeadlineExceeded'])
    check('ErrImagePull', failed(code), false);
  check('ErrImagePull', `[${failed('NotFound')}, ${failed('Unauthenticated')}]`, true);
  check('ErrImagePull', `[${failed('NotFound')}, ${failed('Unavailable')}]`, false);
  check('ErrImagePull', 'pull QPS exceeded', false);
  check('CrashLoopBackOff', failed('NotFound'), false);
  const init = podOf({ containers: [], init: [status('i', { waiting: { reason: 'ErrImageNeverPull' } })] });
  assert.equal(lacksImage(init), true);
});

test('permanently failed containers of a running pod are found', () => {
  const check = (pod: Pod, expected: string[]) =>
    assert.deepEqual(
      lostContainers(pod).map(({ name }) => name),
      expected,
    );
  check(podOf({ containers: [up, broken], restartPolicy: 'Never' }), ['b']);
  check(podOf({ containers: [up, done], restartPolicy: 'Never' }), []);
  check(podOf({ containers: [up, broken], restartPolicy: 'OnFailure' }), []);
});

test('a ready or succeeded pod needs no explanation', () => {
  const check = (pod: Pod, expected: boolean) => assert.equal(isWell(pod), expected);
  check(podOf({ containers: [up], ready: true }), true);
  check(podOf({ containers: [done], phase: 'Succeeded' }), true);
  check(podOf({ containers: [broken], phase: 'Failed' }), false);
  check(podOf({ containers: [up], phase: 'Failed', ready: true }), false);
});

test('the exit code is that of the first failed container', () => {
  const check = (pods: Pod[], expected: number) => assert.equal(exitCodeOf(pods), expected);
  const good = podOf({ containers: [done], phase: 'Succeeded' });
  check([good], 0);
  check([good, podOf({ containers: [done, status('c', ended(7))], phase: 'Failed' })], 7);
  check([podOf({ containers: [done], init: [status('i', ended(9))], phase: 'Failed' })], 9);
  check([podOf({ containers: [status('a', {})], phase: 'Failed', reason: 'NodeAffinity' })], 1);
});

test('the container that failed earliest determines the exit code, but never a sidecar', () => {
  const at = (exitCode: number, second: number) => {
    const { terminated } = ended(exitCode);
    return { terminated: { ...terminated!, finishedAt: `2026-01-01T00:00:0${second}Z` } };
  };
  const two = podOf({ containers: [status('a', at(4, 5)), status('b', at(6, 2))], phase: 'Failed' });
  assert.equal(exitCodeOf([two]), 6);
  const other = podOf({ containers: [status('a', at(9, 1))], phase: 'Failed' });
  assert.equal(exitCodeOf([two, other]), 9);
  const killed = podOf({ init: [status('s', at(137, 1))], containers: [status('a', at(6, 2))], phase: 'Failed' });
  const [sidecar] = killed.spec.initContainers!;
  assert.equal(exitCodeOf([killed]), 137, 'an init container that failed');
  const initContainers = [{ ...sidecar!, restartPolicy: 'Always' as const }];
  assert.equal(exitCodeOf([{ ...killed, spec: { ...killed.spec, initContainers } }]), 6);
});
