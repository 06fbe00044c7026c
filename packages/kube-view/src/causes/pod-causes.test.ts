import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod } from '@podwright/kube-api';
import type { PodFacts, ViewedEvent } from './finding.ts';
import { explainPod, isPodWell } from './pod-causes.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
type Status = Partial<NonNullable<Pod['status']>>;
type Made = { status?: Status; container?: object; spec?: object; metadata?: object };

function podOf({ status = {}, container = {}, spec = {}, metadata = {} }: Made): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'main', image: 'example.com/a:1', ...container }], ...spec },
    status: { phase: 'Pending', ...status },
  } as unknown as Pod;
}

const waiting = (reason: string, message = '') => ({
  containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { waiting: { reason, message } } }],
});
const ended = (exitCode: number, more: object = {}) => ({
  phase: 'Running' as const,
  containerStatuses: [
    {
      ...{ name: 'main', ready: false, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } },
      lastState: { terminated: { exitCode, reason: 'Error', ...more } },
    },
  ],
});
const event = (reason: string, message: string, container?: string): ViewedEvent => ({
  ...{ type: 'Warning', reason, message },
  ...(container !== undefined && { involvedObject: { fieldPath: `spec.containers{${container}}` } }),
});

const explain = (made: Made, facts: Partial<PodFacts> = {}) =>
  explainPod({
    pod: podOf(made as never),
    events: [],
    log: undefined,
    unboundClaims: [],
    nodes: [],
    now: NOW,
    ...facts,
  });

const logged = (...lines: string[]) => ({ log: { container: 'main', previous: false, lines } });
const unfit = (message: string) => ({
  status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] } as Status,
});

test('each kind of problem has its cause', () => {
  const cases: [string, ReturnType<typeof explain>][] = [
    ['image-credentials', explain({ status: waiting('ErrImagePull', '401 Unauthorized') as never })],
    ['image-not-found', explain({ status: waiting('ErrImagePull', 'manifest unknown') as never })],
    [
      'clock',
      explain(
        { status: waiting('ImagePullBackOff', 'Back-off pulling image') as never },
        {
          events: [
            event(
              'Failed',
              'Failed to pull image "example.com/a:1": x509: certificate has expired or is not yet valid',
            ),
          ],
        },
      ),
    ],
    ['image-pull', explain({ status: waiting('ErrImagePull', 'the disk is odd') as never })],
    [
      'host-port',
      explain(unfit("0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.")),
    ],
    ['resources', explain(unfit('0/1 nodes are available: 1 Insufficient cpu. preemption: none.'))],
    ['anti-affinity', explain(unfit("0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."))],
    ['unschedulable', explain(unfit('0/1 nodes are available: something new.'))],
    [
      'scheduling-gate',
      explain({
        status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } as Status,
      }),
    ],
    [
      'cordoned',
      explain(unfit('0/1 nodes are available: 1 node(s) were unschedulable. preemption: none.'), {
        nodes: [{ metadata: { name: 'n' }, spec: { unschedulable: true } }],
      }),
    ],
    ['cordoned', explain(unfit('0/1 nodes are available: 1 node(s) were unschedulable. preemption: none.'))],
    [
      'node-not-ready',
      explain(unfit('0/1 nodes are available: 1 node(s) had untolerated taint(s).'), {
        nodes: [
          {
            metadata: { name: 'n' },
            spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
            status: { conditions: [{ type: 'Ready', status: 'False', message: 'no network' }] },
          },
        ],
      }),
    ],
    ['clock', explain({ status: ended(1) as never }, logged('x509: certificate has expired'))],
    ['port-in-use', explain({ status: ended(1) as never }, logged('listen EADDRINUSE', 'bye'))],
    ['no-program', explain({ status: ended(127) as never })],
    ['not-executable', explain({ status: ended(126) as never })],
    ['killed', explain({ status: ended(137) as never })],
    [
      'evicted',
      explain({ status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' } }),
    ],
    ['finalizer', explain({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] } })],
    ['stuck-termination', explain({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
    ['terminating', explain({ metadata: { deletionTimestamp: '2026-01-01T00:10:30Z' } })],
    ['readiness-gate', explain({ status: { phase: 'Running' }, spec: { readinessGates: [{ conditionType: 'a/b' }] } })],
    ['network', explain({}, { events: [event('NetworkNotReady', 'network is not ready: no CNI plugin')] })],
    ['starting', explain({})],
  ];
  for (const [cause, finding] of cases) assert.equal(finding.cause, cause, finding.sentence);
});

test('an image’s reference does not affect why it cannot be pulled', () => {
  const status = waiting('ErrImagePull', 'pull example.com/not-found:1: connection refused') as never;
  assert.equal(explain({ status, container: { image: 'example.com/not-found:1' } }).cause, 'registry-unreachable');
});

test('a pod that waits for a claim is explained by the claim, even before the claim has been read', () => {
  const claimed = (message: string, ...claims: string[]) => ({
    ...unfit(message),
    spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
  });
  const unbound = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: none.';
  const pending = explain(claimed(unbound, 'pictures'));
  assert.equal(pending.sentence, 'its claim "pictures" is not bound to a volume');
  assert.match(pending.advice[0]!, /`kubectl get storageclasses`/);
  assert.equal(explain(claimed(unbound, 'a', 'b')).cause, 'unschedulable');
  const read = { name: 'pictures', exists: true, storageClass: 'standart', event: '"standart" not found' };
  assert.equal(
    explain(claimed(unbound, 'pictures'), { unboundClaims: [read] }).sentence,
    'its claim "pictures" of the class "standart" is not bound to a volume: "standart" not found',
  );
  const absent = '0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: none.';
  const sentence = 'the claim "data", which a volume names, does not exist';
  assert.equal(explain(claimed(absent, 'data')).sentence, sentence);
  assert.equal(
    explain(claimed(absent, 'data'), { unboundClaims: [{ name: 'data', exists: false }] }).sentence,
    sentence,
  );
});

test('the end of the log is shown with the cause', () => {
  const { sentence, log } = explain({ status: ended(1) as never }, logged('reading', 'open /etc/x: permission denied'));
  assert.equal(sentence, 'container main fails (exit code 1), 2 times so far: it lacks a permission');
  assert.deepEqual(log?.lines, ['reading', 'open /etc/x: permission denied']);
});

test('a ready or succeeded pod is healthy, but not one being deleted', () => {
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } as Status;
  assert.equal(isPodWell(podOf({ status: ready })), true);
  assert.equal(isPodWell(podOf({ status: { phase: 'Succeeded' } })), true);
  assert.equal(isPodWell(podOf({ status: ready, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })), false);
});

test('statuses from other implementations with missing fields are also explained', () => {
  const bare = [
    { name: 'main', ready: false, restartCount: 0, image: '', imageID: '' },
  ] as unknown as ContainerStatus[];
  assert.equal(explain({ status: { containerStatuses: bare } }).cause, 'starting');
});
