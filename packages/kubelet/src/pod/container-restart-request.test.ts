import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { planRestart } from './container-restart-request.ts';
import { RestartRequests } from './restart-requests.ts';

function podOf(restartPolicy: string, more: Partial<Pod['metadata']> = {}, phase = 'Running'): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u', ...more };
  const initContainers = [{ name: 'once' }, { name: 'mesh', restartPolicy: 'Always' }];
  const spec = { restartPolicy, initContainers, containers: [{ name: 'a' }, { name: 'b' }] };
  return { metadata, spec, status: { phase } } as unknown as Pod;
}

type State = Pick<RuntimeContainer, 'name' | 'state'> & { exitCode?: number };
function statusOf(...containers: State[]): RuntimePodStatus {
  return { containers: containers.map((one) => ({ id: `id-${one.name}`, exitCode: 0, ...one })) } as RuntimePodStatus;
}

const running = statusOf(
  { name: 'a', state: 'running' },
  { name: 'b', state: 'running' },
  { name: 'mesh', state: 'running' },
  { name: 'once', state: 'exited' },
);

function check(pod: Pod, status: RuntimePodStatus, wanted: string | undefined, expected: string[]): void {
  const { stop, hurry } = planRestart(pod, status, wanted);
  assert.deepEqual([...stop.map(({ id }) => `stop ${id}`), ...hurry.map(({ name }) => `hurry ${name}`)], expected);
}

test('a restart stops all regular containers, or only the named container, which may be a sidecar', () => {
  check(podOf('Always'), running, undefined, ['stop id-a', 'stop id-b']);
  check(podOf('OnFailure'), running, 'b', ['stop id-b']);
  check(podOf('Always'), running, 'mesh', ['stop id-mesh']);
});

test('a restart ends the crash back-off of a container', () => {
  const crashed = statusOf({ name: 'a', state: 'exited', exitCode: 1 }, { name: 'b', state: 'running' });
  check(podOf('Always'), crashed, undefined, ['stop id-b', 'hurry a']);
  check(podOf('OnFailure'), crashed, 'a', ['hurry a']);
});

test('an impossible restart is rejected with the reason', () => {
  const refused = (pod: Pod, status: RuntimePodStatus, wanted: string | undefined, message: RegExp) =>
    assert.throws(() => planRestart(pod, status, wanted), { message });
  refused(podOf('Never'), running, undefined, /restartPolicy is Never/);
  refused(podOf('Always', { deletionTimestamp: 'now' }), running, undefined, /is being deleted/);
  refused(podOf('OnFailure', {}, 'Succeeded'), running, undefined, /has ended \(Succeeded\)/);
  refused(podOf('Always'), running, 'c', /has no container c; it has once, mesh, a, b/);
  refused(podOf('Always'), running, 'once', /init container, which runs once/);
  refused(podOf('Always'), statusOf(), 'a', /has not started yet/);
  refused(podOf('Always'), statusOf(), undefined, /none of its containers runs/);
  refused(podOf('OnFailure'), statusOf({ name: 'a', state: 'exited' }), 'a', /does not run/);
});

test('a restart request is dropped when its container has ended', () => {
  const requests = new RestartRequests();
  requests.add('u', ['1', '2']);
  requests.keepOnly('u', [{ id: '2' }, { id: '3' }]);
  assert.deepEqual(
    ['1', '2', '3'].map((id) => requests.has('u', id)),
    [false, true, false],
  );
  requests.keepOnly('u', []);
  assert.equal(requests.has('u', '2'), false);
});
