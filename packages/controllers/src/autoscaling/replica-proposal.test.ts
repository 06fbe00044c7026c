/** Cases from upstream's replica_calculator_test.go. Pods have two containers; requests are in cores, usage is in millicores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodPhase } from '@podwright/kube-api';
import type { PodMetrics } from '../objects/horizontal-pod-autoscaler.ts';
import { usagesOf } from './pod-usage.ts';
import { proposeReplicas } from './replica-proposal.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const START = NOW - 3_600_000;
const time = (ms: number) => new Date(ms).toISOString();

type PodCase = { request?: number; phase?: PodPhase; isReady?: boolean; isHot?: boolean; isDeleting?: boolean };
/** A pod's usage per container; a single number applies to both of its containers. */
type Level = number | number[];

type Case = {
  from: number;
  target: number;
  levels: Level[];
  /** The pods of the target. Default: `from` ready pods. */
  pods?: PodCase[];
  container?: string;
  resource?: string;
  isAverage?: boolean;
  tolerances?: { scaleDown: number; scaleUp: number };
};

function podOf(
  { request = 1, phase = 'Running', isReady = true, isHot = false, isDeleting }: PodCase,
  index: number,
): Pod {
  const resources = { requests: { cpu: `${request * 1000}m`, memory: '1000' } };
  const containers = ['container1', 'container2'].map((name) => ({ name, image: 'i', resources }));
  // a hot pod became ready within the window of its metrics, so they include its startup
  const transition = isHot ? NOW : isReady ? START + 60_000 : START;
  const startMs = isHot ? NOW - 30_000 : START;
  const condition = { type: 'Ready', status: isReady ? ('True' as const) : ('False' as const) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name: `p${index}`,
      uid: `u${index}`,
      ...(isDeleting === true ? { deletionTimestamp: time(NOW) } : {}),
    },
    spec: { containers },
    status: {
      phase,
      startTime: time(startMs),
      conditions: [{ ...condition, lastTransitionTime: time(transition) }],
    },
  } as Pod;
}

function propose(asked: Case) {
  const { from, target, levels, container, resource = 'cpu', isAverage = false, tolerances } = asked;
  const pods = (asked.pods ?? Array.from({ length: from }, () => ({}))).map(podOf);
  const metrics = levels.map((level, index): PodMetrics => {
    const values = typeof level === 'number' ? [level, level] : level;
    const containers = values.map((value, at) => ({ name: `container${at + 1}`, usage: { [resource]: `${value}m` } }));
    return { metadata: { name: `p${index}` }, timestamp: time(NOW), window: '1m', containers } as unknown as PodMetrics;
  });
  return proposeReplicas({
    ...{ resource, container, pods, currentReplicas: from, nowMs: NOW },
    target: isAverage ? { average: target } : { utilization: target },
    usages: usagesOf(metrics, resource, container),
    tolerances: tolerances ?? { scaleDown: 0.1, scaleUp: 0.1 },
  });
}

function check(asked: Case, replicas: number, utilization: number, usage?: number): void {
  const proposal = propose(asked);
  assert.deepEqual([proposal.replicas, proposal.utilization], [replicas, utilization], JSON.stringify(asked));
  if (usage !== undefined) assert.equal(proposal.usage, usage);
}

const UNREADY = { isReady: false };
const HOT = { isHot: true };

test('replicas increase with the ratio of usage to target', () => {
  const levels = [300, 500, 700];
  const asked = { from: 3, target: 30, levels };
  check(asked, 5, 50, 1000);
  check({ ...asked, levels: levels.map((level) => [1000, level]), container: 'container2' }, 5, 50, 500);
  check({ ...asked, pods: [UNREADY, {}, {}] }, 4, 60, 1200);
  check({ ...asked, pods: [HOT, {}, {}] }, 4, 60, 1200);
  check({ ...asked, levels: [400, 500, 700], pods: [{}, UNREADY, UNREADY] }, 3, 40, 800);
  check({ ...asked, levels: [400, 500, 700], pods: [{}, HOT, HOT] }, 3, 40, 800);
});

test('pods that have failed or are being deleted do not count', () => {
  const gone = [{ phase: 'Failed' as const, isReady: false }, { isDeleting: true }];
  check({ from: 2, target: 30, levels: [500, 700], pods: [{}, {}, ...gone] }, 4, 60, 1200);
  check({ from: 5, target: 50, levels: [100, 300, 500, 250, 250], pods: [{}, {}, {}, {}, {}, ...gone] }, 3, 28, 560);
});

test('replicas decrease with the ratio of usage to target', () => {
  const levels = [100, 300, 500, 250, 250];
  const asked = { from: 5, target: 50, levels };
  check(asked, 3, 28, 560);
  check({ ...asked, levels: levels.map((level) => [1000, level]), container: 'container2' }, 3, 28, 280);
  check({ ...asked, pods: [{}, {}, {}, UNREADY, UNREADY] }, 2, 30, 600);
  check({ ...asked, pods: [{}, {}, {}, HOT, HOT] }, 2, 30, 600);
  const pending = { phase: 'Pending' as const, isReady: false };
  check({ ...asked, levels: [100], pods: [{}, pending, pending, pending, pending] }, 1, 10, 200);
});

test('a ratio within the tolerance changes nothing', () => {
  const pods = [{ request: 0.9 }, {}, { request: 1.1 }];
  const asked = { from: 3, target: 100, pods };
  check({ ...asked, levels: [1010, 1030, 1020] }, 3, 102, 2040);
  const of = (scaleDown: number, scaleUp: number) => ({ tolerances: { scaleDown, scaleUp } });
  check({ ...asked, levels: [909, 1010, 1111], ...of(0, 0) }, 4, 101);
  check({ ...asked, levels: [1890, 1910, 1900], ...of(0.1, 2) }, 3, 190);
  check({ ...asked, levels: [1100, 1080, 1090], ...of(2, 0.08) }, 4, 109);
  check({ ...asked, levels: [660, 640, 650], ...of(0.36, 0.1) }, 3, 65);
  check({ ...asked, levels: [660, 640, 650], ...of(0.34, 0.1) }, 2, 65);
});

test('pods without metrics dampen the change', () => {
  check({ from: 4, target: 100, levels: [400, 95] }, 3, 24, 495);
  check({ from: 2, target: 100, levels: [1000] }, 2, 100, 2000);
  check({ from: 2, target: 100, levels: [1900] }, 2, 190, 3800);
  check({ from: 2, target: 100, levels: [600] }, 2, 60, 1200);
  check({ from: 3, target: 50, levels: [100, 450], pods: [UNREADY, {}, {}] }, 3, 45, 900);
  check({ from: 3, target: 50, levels: [100, 450], pods: [HOT, {}, {}] }, 3, 45, 900);
  check({ from: 3, target: 50, levels: [100, 2000], pods: [UNREADY, {}, {}] }, 4, 200, 4000);
  check({ from: 4, target: 50, levels: [100, 100, 100], pods: [UNREADY, {}, {}, {}] }, 3, 10, 200);
  const pods = [UNREADY, {}, { request: 2 }, { request: 2 }];
  check({ from: 4, target: 300, levels: [200, 100, 100], pods }, 2, 6, 200);
  check({ from: 2, target: 50, levels: [100, 100], pods: [{}, {}, {}] }, 2, 10, 200);
});

test('metrics of unknown pods do not count towards utilization', () => {
  check({ from: 4, target: 100, levels: [4000, 9500, 3000, 7000, 3200, 2000] }, 24, 587, 11750);
});

test('averages of resources other than CPU do not depend on readiness', () => {
  const average = (asked: Omit<Case, 'target' | 'isAverage'>, target: number) => {
    const { replicas, usage, utilization } = propose({ resource: 'memory', ...asked, target, isAverage: true });
    assert.equal(utilization, undefined);
    return [replicas, usage];
  };
  const half = (levels: number[]) => levels.map((level) => level / 2);
  assert.deepEqual(average({ from: 3, levels: half([20000, 10000, 30000]) }, 15000), [4, 20000]);
  const hot = { isReady: false, isHot: true };
  assert.deepEqual(average({ from: 3, levels: half([50000, 10000, 30000]), pods: [{}, {}, hot] }, 15000), [6, 30000]);
  assert.deepEqual(average({ from: 3, levels: half([50000, 15000, 30000]), pods: [hot, {}, hot] }, 15000), [7, 31666]);
  assert.deepEqual(average({ from: 5, levels: half([12000, 12000, 12000, 12000, 12000]) }, 20000), [3, 12000]);
  assert.deepEqual(average({ from: 3, levels: half([20000, 21000, 21000]) }, 20000), [3, 20666]);
  assert.deepEqual(average({ from: 5, levels: half([20000, 19000, 21000]) }, 20000), [5, 20000]);
  assert.deepEqual(average({ from: 2, levels: half([10000, 10000]), pods: [{}, {}, {}] }, 17000), [2, 10000]);
});

test('incomparable usage is an error', () => {
  const refused = (asked: Case, message: string) => assert.throws(() => propose(asked), { message });
  refused(
    { from: 1, target: 100, levels: [100], pods: [] },
    'no pods returned by selector while calculating replica count',
  );
  const unready = 'did not receive metrics for targeted pods (pods might be unready)';
  refused({ from: 1, target: 100, levels: [100], pods: [UNREADY] }, unready);
  refused({ from: 1, target: 100, levels: [100], container: 'x' }, unready);
  const missing = 'missing request for storage in container container1 of Pod p0';
  refused({ from: 1, target: 100, levels: [100], resource: 'storage' }, missing);
  refused({ from: 1, target: 100, levels: [100], pods: [{ request: 0 }] }, 'no metrics returned matched known pods');
});

test('pod-level requests are used for the utilization', () => {
  const pod = podOf({}, 0);
  const limited = { ...pod, spec: { ...pod.spec, resources: { requests: { cpu: '4' } } } };
  const usages = new Map([['p0', { timestampMs: NOW, windowMs: 1000, value: 2000 }]]);
  const input = {
    pods: [limited],
    usages,
    currentReplicas: 1,
    tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
    nowMs: NOW,
  };
  const proposal = proposeReplicas({ ...input, resource: 'cpu', target: { utilization: 25 } });
  assert.deepEqual([proposal.replicas, proposal.utilization], [2, 50]);
  const storage = { ...input, resource: 'storage', target: { utilization: 25 } };
  assert.throws(() => proposeReplicas(storage), { message: 'missing pod-level request for storage in Pod p0' });
});
