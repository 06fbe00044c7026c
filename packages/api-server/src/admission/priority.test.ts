import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTolerationSeconds } from './default-tolerations.ts';
import { PriorityAdmission } from './priority.ts';
import { admit, object, rejects, storeOf } from './test-admission.fixture.ts';

const CLASSES = 'priorityclasses.scheduling.k8s.io';
const high = object('high', { value: 1000, preemptionPolicy: 'Never' });
const low = object('low', { value: 7, globalDefault: true, preemptionPolicy: 'PreemptLowerPriority' });
const plain = new PriorityAdmission(storeOf({ [CLASSES]: high }));
const defaulted = new PriorityAdmission(
  storeOf({ [CLASSES]: [high, object('a-mid', { value: 9, globalDefault: true }), low] }),
);

const pod = (spec: Record<string, unknown>) => ({ to: 'pods', object: object('shop/web', { spec }) });
const check = async (plugin: PriorityAdmission, spec: Record<string, unknown>, expected: Record<string, unknown>) =>
  assert.deepEqual((await admit(plugin, pod(spec))).object.spec, { ...spec, ...expected });

test('a pod gets the priority of its priority class', async () => {
  await check(plain, { priorityClassName: 'high' }, { priority: 1000, preemptionPolicy: 'Never' });
  await check(plain, { priorityClassName: 'high', priority: 1000 }, { preemptionPolicy: 'Never' });
  const preemptionPolicy = 'PreemptLowerPriority';
  await check(plain, {}, { priority: 0, preemptionPolicy });
  await check(plain, { priorityClassName: 'system-node-critical' }, { priority: 2_000_001_000, preemptionPolicy });
  await check(plain, { priorityClassName: 'system-cluster-critical' }, { priority: 2_000_000_000, preemptionPolicy });
});

test('a pod without a class gets the default class, or the lowest if there are several', async () => {
  await check(defaulted, {}, { priorityClassName: 'low', priority: 7, preemptionPolicy: 'PreemptLowerPriority' });
});

test('a priority that differs from that of the class is rejected', async () => {
  const message = (given: number, computed: number) =>
    `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
  await rejects(plain, pod({ priority: 5 }), message(5, 0));
  await rejects(plain, pod({ priority: 5, priorityClassName: 'high' }), message(5, 1000));
  await rejects(
    plain,
    pod({ priorityClassName: 'none' }),
    'pods "web" is forbidden: no PriorityClass with name none was found',
  );
  await rejects(plain, pod({ priorityClassName: 'constructor' }), 'no PriorityClass with name constructor was found');
  await rejects(
    plain,
    pod({ priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' }),
    'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
  );
});

test('an update that omits the priority retains it', async () => {
  const oldObject = object('shop/web', { spec: { priority: 5, preemptionPolicy: 'Never' } });
  const { object: updated } = await admit(plain, { ...pod({ priority: 6 }), oldObject });
  assert.deepEqual(updated.spec, { priority: 6, preemptionPolicy: 'Never' });
});

test('only one class can be the default', async () => {
  const write = (name: string, globalDefault = true) => ({
    to: CLASSES,
    object: object(name, { value: 1, globalDefault }),
  });
  await rejects(defaulted, write('new'), 'PriorityClass low is already marked as default. Only one default can exist');
  await admit(defaulted, write('new', false));
  await admit(defaulted, { ...write('low'), oldObject: low });
  await rejects(
    defaulted,
    { ...write('high'), oldObject: high },
    'PriorityClass low is already marked as default. Only one default can exist',
  );
  await admit(plain, write('new'));
});

test('system classes cannot be deleted', async () => {
  const system = object('system-node-critical', { value: 2_000_001_000 });
  await rejects(
    plain,
    { to: CLASSES, oldObject: system },
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  );
  await admit(plain, { to: CLASSES, oldObject: high });
});

test('pods tolerate a not-ready or unreachable node for five minutes', async () => {
  const added = (key: string) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  });
  const tolerations = async (...given: Record<string, unknown>[]) => {
    const { object: admitted } = await admit(
      defaultTolerationSeconds,
      pod(given.length === 0 ? {} : { tolerations: given }),
    );
    return (admitted.spec as { tolerations: unknown[] }).tolerations;
  };
  assert.deepEqual(await tolerations(), [added('not-ready'), added('unreachable')]);
  const all = { operator: 'Exists' };
  assert.deepEqual(await tolerations(all), [all]);
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
  assert.deepEqual(await tolerations(own), [own, added('unreachable')]);
  const other = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' };
  assert.deepEqual(await tolerations(other), [other, added('not-ready'), added('unreachable')]);
});
