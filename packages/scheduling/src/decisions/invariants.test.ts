/** Random clusters: no decision may overcommit a node, and pods are preempted only if it helps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, podPriority } from '@podwright/kube-api';
import { type Random, seededRandom } from '../../../base/src/fuzz.fixture.ts';
import { ClusterCache } from '../cluster/cluster-cache.ts';
import { testNode, testPod } from '../cluster/test-objects.fixture.ts';
import { decidePod } from './decide-pod.ts';

const ROUNDS = Number(process.env.TEST_FUZZ_ROUNDS ?? 100);
const SEED = Number(process.env.TEST_SEED ?? 1);
const nothing = { get: () => undefined, list: () => [] };

function randomPod(name: string, random: Random): Pod {
  const labels = { app: `app${random(3)}` };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } };
  const spread = { maxSkew: 1 + random(2), topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const };
  return testPod(name, {
    labels,
    requests: { cpu: `${random(8) * 100}m`, memory: `${random(8) * 100}Mi` },
    spec: {
      priority: random(3),
      ...(random(4) === 0
        ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
        : {}),
      ...(random(4) === 0
        ? { topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }] }
        : {}),
    },
  });
}

function emptyCache(random: Random): ClusterCache {
  const cache = new ClusterCache({
    namespaces: nothing,
    claims: nothing,
    volumes: nothing,
    storageClasses: nothing,
    budgets: nothing,
  });
  for (let index = 0; index <= random(3); index++) {
    const allocatable = { cpu: '2', memory: '2Gi', pods: String(3 + random(6)) };
    cache.setNode(testNode(`n${index}`, { allocatable, labels: { zone: `z${index % 2}` } }));
  }
  return cache;
}

/**
 * Checks that no node exceeds its maximum number of pods or its allocatable resources, and that each node's cached sum of requests is
 * right.
 */
function checkNodes(cache: ClusterCache): void {
  for (const node of cache.snapshot().nodes) {
    assert.ok(BigInt(node.pods.length) <= node.allocatable.get('pods')!, `${node.name} has too many pods`);
    assert.deepEqual(new Map(node.requested), new Map(node.withPods(node.pods).requested));
    for (const [name, amount] of node.requested)
      assert.ok(amount <= node.allocatable.get(name)!, `${name} of ${node.name}`);
  }
}

function preempt(pod: Pod, cache: ClusterCache): void {
  const decision = decidePod(pod, cache.snapshot(), []);
  if (decision.kind === 'assign' || decision.preemption === undefined) return;
  const { victims, node } = decision.preemption;
  assert.ok(victims.length > 0 && victims.every((victim) => podPriority(victim) < podPriority(pod)));
  for (const victim of victims) cache.deletePod(victim);
  const nominated: Pod & { status: { nominatedNodeName?: string } } = {
    ...pod,
    status: { ...pod.status!, nominatedNodeName: node },
  };
  assert.deepEqual(decidePod(nominated, cache.snapshot(), []), { kind: 'assign', node });
  for (const victim of victims) {
    cache.setPod(victim);
    const again = decidePod(nominated, cache.snapshot(), []);
    assert.ok(again.kind === 'wait' || again.node !== node, `${victim.metadata.name} need not have been removed`);
    cache.deletePod(victim);
  }
  cache.assume(pod, node);
}

test(`pods of random clusters are placed within the limits (TEST_SEED=${SEED})`, () => {
  for (let round = 0; round < ROUNDS; round++) {
    const random = seededRandom(SEED * 1_000_003 + round);
    const cache = emptyCache(random);
    for (let index = 0; index < 25; index++) {
      const pod = randomPod(`p${index}`, random);
      const decision = decidePod(pod, cache.snapshot(), []);
      if (decision.kind === 'assign') cache.assume(pod, decision.node);
      else preempt(pod, cache);
      checkNodes(cache);
    }
  }
});
