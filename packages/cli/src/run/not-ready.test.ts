import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { LogOptions } from '../client/node-client.ts';
import { explainTrouble, isInTrouble, troubleOf } from './not-ready.ts';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';

const backOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };
const crashing = status('app', backOff, { containerID: 'x://3', lastState: ended(3, 'x://3'), restartCount: 2 });

test('the log shown is that of the failed attempt', () => {
  const check = (pod: Pod, expected: object | undefined) => assert.deepEqual(troubleOf(pod).log, expected);
  check(podOf({ containers: [crashing] }), { container: 'app', containerId: 'x://3', previous: false });
  const again = status('app', RUNNING, { containerID: 'x://4', lastState: ended(3, 'x://3') });
  check(podOf({ containers: [again] }), { container: 'app', containerId: 'x://3', previous: true });
  const slow = status('app', RUNNING, { containerID: 'x://1' });
  check(podOf({ containers: [slow] }), { container: 'app', containerId: 'x://1', previous: false });
  check(podOf({ containers: [slow, crashing] }), { container: 'app', containerId: 'x://3', previous: false });
  check(podOf({ containers: [status('app', {})] }), undefined);
});

test('a pod is in trouble after a failure, not while starting', () => {
  const check = (pod: Pod, expected: boolean) => assert.equal(isInTrouble(pod), expected);
  check(podOf({ containers: [status('app', { waiting: { reason: 'ContainerCreating' } })] }), false);
  check(podOf({ containers: [status('app', RUNNING)] }), false);
  check(podOf({ containers: [status('app', { waiting: { reason: 'ErrImagePull' } })] }), true);
  check(podOf({ containers: [crashing] }), true);
  const again = { lastState: ended(3) };
  check(podOf({ containers: [status('app', RUNNING, again)] }), true);
  check(podOf({ containers: [status('app', RUNNING, { ...again, ready: true })], ready: true }), false);
  check(podOf({ containers: [], phase: 'Failed', reason: 'NodePorts' }), true);
});

async function paragraph(
  pod: Pod,
  lines: string[],
  more: { keptBy?: string; warning?: { reason: string; message: string }; width?: number } = {},
) {
  const log = async (_pod: object, { tailLines }: LogOptions) => {
    const text = lines.slice(-tailLines!).map((line) => `${line}\n`);
    return (async function* () {
      yield Buffer.from(text.join(''));
    })();
  };
  const { keptBy, warning, width } = more;
  return explainTrouble(pod, {
    client: { log },
    program: 'podwright --root /r',
    keptBy,
    warning: warning && { type: 'Warning', ...warning },
    signal: new AbortController().signal,
    width,
  });
}

test('a paragraph has the reason, the end of the log, and commands for more information', async () => {
  const text = await paragraph(podOf({ containers: [crashing] }), ['1', 'FATAL: DATABASE_URL is not set\x07']);
  assert.deepEqual(text.split('\n'), [
    'web: CrashLoopBackOff',
    '  app: CrashLoopBackOff: back-off 10s, restarted 2 times; last termination: Error (exit code 3)',
    '  the end of the log of app:',
    '    1',
    '    FATAL: DATABASE_URL is not set^G',
    '  more:',
    '    podwright --root /r describe web',
    '    podwright --root /r logs web -c app',
  ]);
});

test('a paragraph about a rejected pod has no log, and one about a pod due for removal shows how to keep it', async () => {
  const refused = podOf({ containers: [], phase: 'Failed', reason: 'NodeAffinity', message: 'no label disk=ssd' });
  assert.equal(
    await paragraph(refused, [], { keptBy: 'run --detach web.yaml' }),
    [
      'web: NodeAffinity: no label disk=ssd',
      '  what to do:',
      '    Correct the nodeSelector or the node affinity, or label the node.',
      '  to keep and inspect it:',
      '    podwright --root /r run --detach web.yaml',
      '    podwright --root /r describe web',
    ].join('\n'),
  );
});

test('the last termination is shown with its message, as a program that fails to start has no log', () => {
  const last = { terminated: { exitCode: 127, reason: 'ContainerCannotRun', message: 'no such file\nor directory' } };
  const { containers } = troubleOf(podOf({ containers: [status('app', backOff, { lastState: last })] }));
  const state = 'CrashLoopBackOff: back-off 10s; last termination: ContainerCannotRun (exit code 127: no such file)';
  assert.deepEqual(containers, [{ name: 'app', state }]);
});

test('on a terminal, sentences are wrapped, but commands are not', async () => {
  const text = await paragraph(podOf({ containers: [crashing] }), ['FATAL: DATABASE_URL is not set'], { width: 30 });
  assert.deepEqual(text.split('\n').slice(1, 4), [
    '  app: CrashLoopBackOff:',
    '  back-off 10s, restarted 2',
    '  times; last termination:',
  ]);
  assert.equal(text.split('\n').at(-1), '    podwright --root /r logs web -c app');
});

test('the last warning is shown if the container states do not explain it', async () => {
  const waits = podOf({ containers: [status('app', { waiting: { reason: 'ContainerCreating' } })], phase: 'Pending' });
  const text = await paragraph(waits, [], {
    warning: { reason: 'FailedCreatePodSandBox', message: 'no address is left' },
  });
  assert.match(text, /^ {2}FailedCreatePodSandBox: no address is left$/m);
});

test('a warning that repeats the state is not shown', async () => {
  const message = 'Pod was rejected: no free ports';
  const refused = podOf({ containers: [], phase: 'Failed', reason: 'NodePorts', message });
  assert.doesNotMatch(
    await paragraph(refused, [], { warning: { reason: 'NodePorts', message: 'no free ports' } }),
    /^ {2}NodePorts/m,
  );
  const unpulled = status('app', { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image' } });
  const warning = { reason: 'Failed', message: 'Error: ImagePullBackOff' };
  assert.doesNotMatch(await paragraph(podOf({ containers: [unpulled] }), [], { warning }), /Failed/);
});

test('a completed container in a running pod is given as the reason', async () => {
  const containers = [status('quick', ended(0)), status('stays', RUNNING, { ready: true })];
  const text = await paragraph(podOf({ containers, restartPolicy: 'Never' }), []);
  assert.match(text, /^web: NotReady\n {2}quick: Completed\n {2}more:$/m);
});

test('the last ten lines of a long log are shown, truncated to a readable length', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(5000)}`);
  const text = await paragraph(podOf({ containers: [crashing] }), lines);
  assert.match(text, /^ {4}29 x+$/m);
  assert.doesNotMatch(text, /^ {4}19 /m);
  assert.ok(text.split('\n').every((line) => line.length < 500));
});

test('if the log of the failed attempt was removed, the latest nonempty log is shown', async () => {
  const again = status('app', RUNNING, { containerID: 'x://4', lastState: ended(3, 'x://3') });
  const log = async (_pod: object, { containerId }: LogOptions) =>
    (async function* () {
      if (containerId === 'x://4') yield Buffer.from('FATAL\n');
    })();
  const text = await explainTrouble(podOf({ containers: [again] }), {
    ...{ client: { log }, program: 'podwright', keptBy: undefined, warning: undefined, width: undefined },
    signal: new AbortController().signal,
  });
  assert.match(text, /^ {2}the end of the log of app:\n {4}FATAL$/m);
});

test('an unscheduled pod shows the scheduler’s reason rather than its containers’', async () => {
  const pod = podOf({ containers: [status('app', {})], phase: 'Pending' });
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  const conditions = [{ type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message }];
  const text = await paragraph({ ...pod, status: { ...pod.status!, conditions, containerStatuses: undefined } }, []);
  assert.deepEqual(text.split('\n').slice(0, 2), [`web: Pending: ${message}`, '  what to do:']);
});
