import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodStatus } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { emptyRuntimePod, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { emptyPlan } from '../kuberuntime/pod-actions.ts';
import type { SyncOutcome } from './pod-workers.ts';
import * as gates from './sync-gates.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'app', image: 'busybox:1' }], restartPolicy: 'Always' },
};

const NEW: PodStatus = { phase: 'Pending' };

type Given = {
  refused?: boolean;
  status?: RuntimePodStatus;
  publishedStatus?: PodStatus;
  ended?: boolean;
  leftMs?: number;
  plan?: Partial<gates.SyncContext['plan']>;
  deps?: object;
};

/** A context with the dependencies of the gate under test. `calls` records the gate's actions, and `events` the reasons of its events. */
function contextOf({ refused = false, ended = false, publishedStatus = NEW, leftMs, ...given }: Given = {}) {
  const calls: string[] = [];
  const events: string[] = [];
  const event = (_: object, type: string, reason: string) => void events.push(`${type} ${reason}`);
  const actuated = { of: () => undefined, observe: () => void calls.push('observe') };
  const runtime = { events: { event }, hostIps: () => [], actuated };
  const status = given.status ?? emptyRuntimePod(podIdentity(pod));
  const allocations = {
    allocate: (desired: Pod) => ({ ...desired, metadata: { ...desired.metadata, labels: { allocated: 'yes' } } }),
    settle: (allocated: Pod) => void calls.push(`settle ${allocated.metadata.labels?.allocated}`),
  };
  const context = {
    desired: pod,
    signal: new AbortController().signal,
    deps: { runtime, allocations, ...given.deps },
    statusReader: { statusOf: async () => status },
    reports: {
      reportRefusal: () => refused,
      report: () => {
        calls.push('report');
        return { status: { phase: 'Running' }, ended };
      },
      keepProbeAnswers: () => void calls.push('keep probe answers'),
    },
    deadlines: { leftMs: () => leftMs },
    runner: { carryOut: async () => ({ ended: false, retryAtMs: 7 }) },
    endPod: async (other: Pod) => void calls.push(`end ${other.metadata.name}`),
    ...{ pod, status, publishedStatus, plan: { ...emptyPlan(), ...given.plan } },
  } as unknown as gates.SyncContext;
  return { context, calls, events };
}

test('gates are passed in order until one ends the sync', async () => {
  const { context } = contextOf();
  const passed: string[] = [];
  const gate = (name: string, outcome?: SyncOutcome) => async () => {
    passed.push(name);
    return outcome;
  };
  const outcome = await gates.passGates(context, [gate('a'), gate('b', { ended: true }), gate('c')]);
  assert.deepEqual([outcome, passed], [{ ended: true }, ['a', 'b']]);
});

test('nothing else runs between gates that do not wait', async () => {
  const { context } = contextOf();
  const order: string[] = [];
  const first: gates.Gate = () => {
    queueMicrotask(() => order.push('other work'));
    order.push('a');
    return undefined;
  };
  const second: gates.Gate = () => {
    order.push('b');
    return undefined;
  };
  await gates.passGates(context, [first, second]);
  await Promise.resolve();
  assert.deepEqual(order, ['a', 'b', 'other work']);
});

test('a rejected pod is rejected both before and after its grants, without reading its state', () => {
  assert.deepEqual(
    gates.SYNC_GATES.map(({ name }) => name),
    [
      ...['endIfRefused', 'waitForGrants', 'endIfRefused', 'readStatus', 'endOtherOwner', 'reportStatus'],
      ...['endIfOverdue', 'planActions', 'waitForNode', 'waitForClaims', 'prepareClaims', 'warnOfPorts', 'carryOut'],
    ],
  );
  assert.deepEqual(gates.endIfRefused(contextOf({ refused: true }).context), { ended: true });
  assert.equal(gates.endIfRefused(contextOf().context), undefined);
});

test('a pod waits for a missing device plugin', async () => {
  const statuses = { pod: () => undefined, introduce: () => undefined };
  const admit = (answer: object | undefined) => ({ grants: { admit: async () => answer }, statuses });
  const { context, events } = contextOf({ deps: admit({ kind: 'waits', message: 'no plugin' }) });
  const outcome = await gates.waitForGrants(context);
  assert.equal(outcome?.ended, false);
  assert.ok(outcome.retryAtMs! > Date.now() - 1);
  assert.deepEqual(events, ['Warning WaitingForDevices']);
  assert.equal(await gates.waitForGrants(contextOf({ deps: admit(undefined) }).context), undefined);
});

test('a pod is synced with its allocated resources', async () => {
  const { context, calls } = contextOf();
  assert.equal(await gates.readStatus(context), undefined);
  assert.equal(context.pod.metadata.labels?.allocated, 'yes');
  assert.deepEqual(calls, ['observe', 'settle yes']);
});

test('a pod with a different name but the same UID is terminated first, and the sync starts over', async () => {
  const other = { ...podIdentity(pod), name: 'other' };
  const sandboxes = [{ id: 's', attempt: 0, ready: true, owner: other }];
  const status = { ...emptyRuntimePod(other), sandboxes } as unknown as RuntimePodStatus;
  const { context, calls } = contextOf({ status });
  const outcome = await gates.endOtherOwner(context);
  assert.deepEqual(calls, ['end other']);
  assert.equal(outcome?.ended, false);
  assert.ok(outcome.retryAtMs! <= Date.now());
  assert.equal(await gates.endOtherOwner(contextOf().context), undefined);
});

test('the status is reported with the probe results of an earlier kubelet; a finished pod has ended', () => {
  const { context, calls } = contextOf();
  assert.equal(gates.reportStatus(context), undefined);
  assert.deepEqual([calls, context.publishedStatus], [['keep probe answers', 'report'], { phase: 'Running' }]);
  assert.deepEqual(gates.reportStatus(contextOf({ ended: true }).context), { ended: true });
});

test('a pod fails once its deadline has passed, and not before', () => {
  const { context, events } = contextOf({ leftMs: 0 });
  const outcome = gates.endIfOverdue(context);
  assert.deepEqual([outcome?.ended, outcome?.verdict?.reason], [true, 'DeadlineExceeded']);
  assert.deepEqual(events, ['Normal DeadlineExceeded']);
  for (const leftMs of [undefined, 1]) assert.equal(gates.endIfOverdue(contextOf({ leftMs }).context), undefined);
});

test('a new pod gets a sandbox; a pod that must not start again has ended', () => {
  const probes = { update: () => undefined, liveness: new Map(), startup: new Map() };
  const restarts = { keepOnly: () => undefined, has: () => false };
  const { context } = contextOf({ deps: { probes, restarts } });
  assert.equal(gates.planActions(context), undefined);
  assert.equal(context.plan.createSandbox, true);
  const exited = { id: 'c', name: 'app', state: 'exited', exitCode: 0, attempt: 0, createdAtMs: 1, finishedAtMs: 2 };
  const sandboxes = [{ id: 's', attempt: 0, ready: false, ips: [], owner: podIdentity(pod) }];
  const status = {
    ...emptyRuntimePod(podIdentity(pod)),
    sandboxes,
    containers: [exited],
  } as unknown as RuntimePodStatus;
  const { context: done } = contextOf({ status, deps: { probes, restarts } });
  done.pod = { ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } };
  assert.deepEqual(gates.planActions(done), { ended: true });
});

test('a pod waits while the runtime is down', () => {
  const down = (errors: string[]) => ({ obstacles: { runtimeErrors: () => errors, networkError: () => undefined } });
  assert.equal(gates.waitForNode(contextOf({ deps: down(['down']) }).context)?.ended, false);
  assert.equal(gates.waitForNode(contextOf({ deps: down([]) }).context), undefined);
});

test('claims are prepared only if a sandbox is about to be created', async () => {
  const failing = { grants: { prepare: () => Promise.reject(new Error('no driver')) } };
  const { context, events } = contextOf({ deps: failing, plan: { createSandbox: true } });
  assert.deepEqual(await gates.prepareClaims(context), { ended: false, failed: true });
  assert.deepEqual(events, ['Warning FailedPrepareDynamicResources']);
  assert.equal(await gates.prepareClaims(contextOf({ deps: failing }).context), undefined);
});

test('the last gate executes the plan', async () => {
  assert.deepEqual(await gates.carryOut(contextOf().context), { ended: false, retryAtMs: 7 });
  assert.equal(gates.SYNC_GATES.at(-1), gates.carryOut);
});

test('a pod does not get a sandbox while one of its claims exceeds its capacity', async () => {
  let refusal: string | undefined = 'too large';
  const claimRefusal = async () => refusal;
  const of = (plan: Given['plan'], volumes: Pod['spec']['volumes']) => {
    const { context, events } = contextOf({ plan, deps: { claimRefusal } });
    return { context: { ...context, pod: { ...pod, spec: { ...pod.spec, volumes } } }, events };
  };
  const claim = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  const held = of({ createSandbox: true }, claim);
  const outcome = await gates.waitForClaims(held.context);
  assert.ok(outcome !== undefined && !outcome.ended && outcome.retryAtMs! > Date.now());
  assert.deepEqual(held.events, ['Warning FailedMount']);
  assert.equal(gates.waitForClaims(of({ createSandbox: false }, claim).context), undefined);
  assert.equal(gates.waitForClaims(of({ createSandbox: true }, [{ name: 'v', emptyDir: {} }]).context), undefined);
  refusal = undefined;
  assert.equal(await gates.waitForClaims(of({ createSandbox: true }, claim).context), undefined);
});
