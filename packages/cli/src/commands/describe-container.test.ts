import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnvVarSource, Pod, Probe } from '@podwright/kube-api';
import { renderOutline } from '../output/outline.ts';
import { describeContainer, describeProbe, describeVariable } from './describe-container.ts';

test('probes are described as in kubectl', () => {
  const times = 'delay=0s timeout=1s period=10s #success=1 #failure=3';
  const check = (probe: Probe, expected: string) => assert.equal(describeProbe(probe), `${expected} ${times}`);
  check({ exec: { command: ['cat', '/x'] } }, 'exec [cat /x]');
  check({ httpGet: { port: 'http', path: 'x' } }, 'http-get http://:http/x');
  check({ httpGet: { port: 8443, scheme: 'HTTPS', host: 'h' } }, 'http-get https://h:8443/');
  check({ tcpSocket: { port: 53 } }, 'tcp-socket :53');
  check({ grpc: { port: 9000, service: 's' } }, 'grpc :9000 s');
  const slow = { exec: { command: ['x'] }, initialDelaySeconds: 5, timeoutSeconds: 2, periodSeconds: 3 };
  assert.equal(
    describeProbe({ ...slow, successThreshold: 4, failureThreshold: 6 }),
    'exec [x] delay=5s timeout=2s period=3s #success=4 #failure=6',
  );
});

test('a variable with a reference shows the reference rather than the value', () => {
  const check = (valueFrom: EnvVarSource, expected: string) =>
    assert.equal(describeVariable({ name: 'A', valueFrom }), expected);
  check({ fieldRef: { fieldPath: 'status.podIP' } }, '(v1:status.podIP)');
  check({ resourceFieldRef: { resource: 'limits.cpu' } }, '(limits.cpu)');
  check({ configMapKeyRef: { name: 'c', key: 'k' } }, "<set to the key 'k' in config map 'c'>  Optional: false");
  check(
    { secretKeyRef: { name: 's', key: 'k', optional: true } },
    "<set to the key 'k' in secret 's'>  Optional: true",
  );
  check(
    { fileKeyRef: { volumeName: 'v', path: 'd/env', key: 'k' } },
    "<set to the key 'k' in file 'd/env' of volume 'v'>  Optional: false",
  );
});

test('the state before the last restart is shown with its timestamps', () => {
  const state = { running: { startedAt: '2026-11-22T12:00:01Z' } };
  const terminated = {
    exitCode: 3,
    reason: 'Error',
    message: 'FATAL: no\nhome\n',
    startedAt: '2026-11-22T12:00:00Z',
    finishedAt: '2026-11-22T12:00:01Z',
  };
  const status = { name: 'main', state, lastState: { terminated }, ready: true, restartCount: 1 };
  const container = { name: 'main', image: 'x:1' };
  const pod = { spec: { containers: [container] }, status: { containerStatuses: [status] } } as unknown as Pod;
  const text = renderOutline([describeContainer(pod, container, undefined)]).join('\n');
  assert.ok(
    text.includes(`  State:          Running
    Started:  Sun, 22 Nov 2026 12:00:01 +0000
  Last State:     Terminated
    Reason:     Error
    Message:    FATAL: no
                home
    Exit Code:  3
    Started:    Sun, 22 Nov 2026 12:00:00 +0000
    Finished:   Sun, 22 Nov 2026 12:00:01 +0000
  Ready:          True
  Restart Count:  1`),
    text,
  );
});
