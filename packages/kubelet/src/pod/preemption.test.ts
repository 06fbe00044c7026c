import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ResourceRequirements } from '../api/types.ts';
import { podsToPreempt } from './preemption.ts';

type Given = { cpu?: string; priority?: number; limited?: boolean };

function podOf(name: string, { cpu, priority, limited }: Given = {}): Pod {
  const amounts: Record<string, string> = cpu === undefined ? {} : { cpu, ...(limited && { memory: '1Mi' }) };
  const resources: ResourceRequirements = { requests: amounts, ...(limited && { limits: amounts }) };
  const metadata = { name, namespace: 'default', uid: name };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { priority, containers: [{ name: 'a', image: 'i', resources }] },
  };
}

const critical = podOf('vital', { priority: 2_000_000_000 });
const cpuShort = (amount: bigint) => [{ resource: 'cpu', requested: amount, used: 0n, capacity: 0n }];
const podShort = [{ resource: 'pods', requested: 1n, used: 3n, capacity: 3n }];

function check(
  pod: Pod,
  others: Pod[],
  shortages: Parameters<typeof podsToPreempt>[2],
  expected: string[] | undefined,
): void {
  assert.deepEqual(
    podsToPreempt(pod, others, shortages)?.map(({ metadata }) => metadata.name),
    expected,
  );
}

test('a critical pod displaces those that are not, a pod those of a lower priority', () => {
  check(critical, [podOf('a')], podShort, ['a']);
  check(critical, [podOf('a', { priority: 2_000_001_000 })], podShort, undefined);
  check(podOf('b'), [podOf('a')], podShort, undefined);
  check(podOf('b', { priority: 2 }), [podOf('a', { priority: 1 })], podShort, ['a']);
  check(podOf('b', { priority: 1 }), [podOf('a', { priority: 1 })], podShort, undefined);
});

test('as few pods as possible, the smallest that do, and the best quality of service last', () => {
  const guaranteed = podOf('g', { cpu: '1', limited: true });
  const [small, middle, large] = ['100m', '300m', '2'].map((cpu) => podOf(cpu, { cpu }));
  check(critical, [guaranteed, small!, middle!, large!], cpuShort(200n), ['300m']);
  check(critical, [guaranteed, small!, middle!], cpuShort(400n), ['300m', '100m']);
  check(critical, [guaranteed, small!, middle!], cpuShort(1200n), ['300m', 'g']);
  check(critical, [podOf('idle'), guaranteed], cpuShort(1000n), ['g']);
  check(critical, [small!, middle!], cpuShort(500n), undefined);
});
