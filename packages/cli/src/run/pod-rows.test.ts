import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podOf, status } from './pod.fixture.ts';
import { containerRows, firstLine } from './pod-rows.ts';

test('messages are truncated to one line, and long IDs to their start', () => {
  assert.equal(
    firstLine(`failed to start ${'0123456789ab'.repeat(5)}cdef: no\nmore`),
    'failed to start 0123456789ab: no',
  );
  assert.equal(firstLine(`image sha256:${'f'.repeat(64)}`), `image sha256:${'f'.repeat(12)}`);
  const backOff = 'back-off 10s restarting failed container=main pod=web_default(f3957396-4104-405a-8afd-435ddef761e0)';
  assert.equal(firstLine(backOff), 'back-off 10s restarting failed container=main');
  const waiting = { waiting: { reason: 'RunContainerError', message: `container ${'a'.repeat(64)}` } };
  assert.equal(
    containerRows(podOf({ containers: [status('a', waiting)] }))[0]!.state,
    `RunContainerError: container ${'a'.repeat(12)}`,
  );
});

test('a failed pull has the same message during an attempt and during back-off', () => {
  const error = 'rpc error: code = Unavailable desc = connect to https://reg: no such host';
  const backOff = `Back-off pulling image "i": ErrImagePull: ${error}`;
  const row = (reason: string, message: string) =>
    containerRows(podOf({ containers: [status('a', { waiting: { reason, message } })] }))[0]!;
  const [tried, waits] = [row('ErrImagePull', error), row('ImagePullBackOff', backOff)];
  assert.equal(waits.state, 'ImagePullBackOff: i: connect to https://reg: no such host');
  assert.equal(tried.failure, 'ErrImagePull: i: connect to https://reg: no such host');
  assert.equal(waits.failure, tried.failure);
  assert.equal(row('CrashLoopBackOff', 'back-off 10s').failure, undefined);
});
