import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorRequirement, Pod, PodSpec } from '../api/types.ts';
import { refusePod } from './pod-admission.ts';

const node = {
  name: 'here',
  labels: { 'kubernetes.io/os': 'linux', cores: '8', zone: 'a' },
  maxPods: 3,
  allowedUnsafeSysctls: ['kernel.msg*'],
  resources: { cpu: 2000n, memory: 1n << 30n, 'ephemeral-storage': 1n << 30n },
};

function podOf(spec: Partial<PodSpec>): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec } };
}

const withPort = (hostPort: number, hostIP = '', protocol: 'TCP' | 'UDP' = 'TCP') =>
  podOf({ containers: [{ name: 'a', image: 'i', ports: [{ containerPort: 80, hostPort, hostIP, protocol }] }] });

function check(pod: Pod, others: Pod[], expected: string | undefined): void {
  assert.equal(refusePod(pod, others, node)?.reason, expected);
}

test('a full node takes no more pods', () => {
  check(podOf({}), [podOf({}), podOf({})], undefined);
  check(podOf({}), [podOf({}), podOf({}), podOf({})], 'OutOfpods');
});

test('a pod for another kind of node is refused', () => {
  check(podOf({ nodeSelector: { 'kubernetes.io/os': 'linux' } }), [], undefined);
  check(podOf({ nodeSelector: { disk: 'ssd' } }), [], 'NodeAffinity');
  check(podOf({ os: { name: 'linux' } }), [], undefined);
  check(podOf({ os: { name: 'windows' } }), [], 'PodOSNotSupported');
  const labelled = podOf({});
  labelled.metadata.labels = { 'kubernetes.io/os': 'windows' };
  check(labelled, [], 'PodOSSelectorNodeLabelDoesNotMatch');
});

const asking = (resource: string, amount: string, priority?: number) =>
  podOf({ priority, containers: [{ name: 'a', image: 'i', resources: { requests: { [resource]: amount } } }] });

test('a pod that asks for more than the others leave is refused, with the numbers', () => {
  check(asking('cpu', '2'), [], undefined);
  check(asking('cpu', '1'), [asking('cpu', '1500m')], 'OutOfcpu');
  check(asking('memory', '1Gi'), [asking('memory', '1')], 'OutOfmemory');
  check(asking('ephemeral-storage', '2Gi'), [], 'OutOfephemeral-storage');
  check(asking('hugepages-2Mi', '2Mi'), [], 'OutOfhugepages-2Mi');
  check(asking('example.com/fpga', '1'), [], undefined);
  const message = "Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000";
  const shortages = [{ resource: 'cpu', requested: 1000n, used: 1500n, capacity: 2000n }];
  assert.deepEqual(refusePod(asking('cpu', '1'), [asking('cpu', '1500m')], node), {
    reason: 'OutOfcpu',
    message,
    shortages,
  });
});

test('what a pod has of a claim is not the node’s to give', () => {
  const pod = asking('example.com/fpga', '2');
  const offering = { ...node, resources: { ...node.resources, 'example.com/fpga': 1n } };
  assert.equal(refusePod(pod, [], offering)?.reason, 'OutOfexample.com/fpga');
  const requestMappings = [{ containerName: 'a', resourceName: 'example.com/fpga', requestName: 'r' }];
  const extendedResourceClaimStatus = { resourceClaimName: 'c', requestMappings };
  const claimed = { ...pod, status: { extendedResourceClaimStatus } } as unknown as Pod;
  assert.equal(refusePod(claimed, [], offering), undefined);
});

test('what nobody can make room for is no shortage', () => {
  const refused = refusePod({ ...asking('cpu', '3'), metadata: podOf({}).metadata }, [], node);
  assert.equal(refused?.shortages?.length, 1);
  const elsewhere = asking('cpu', '3');
  elsewhere.spec.nodeSelector = { zone: 'b' };
  assert.deepEqual(
    [refusePod(elsewhere, [], node)?.reason, refusePod(elsewhere, [], node)?.shortages],
    ['OutOfcpu', undefined],
  );
});

test('the required node affinity is one of its terms, each as a whole', () => {
  const wanting = (
    ...terms: { matchExpressions?: NodeSelectorRequirement[]; matchFields?: NodeSelectorRequirement[] }[]
  ) =>
    podOf({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
      },
    });
  const label = (key: string, operator: NodeSelectorRequirement['operator'], ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  check(wanting(label('zone', 'In', 'b', 'a')), [], undefined);
  check(wanting(label('zone', 'NotIn', 'a')), [], 'NodeAffinity');
  check(wanting(label('zone', 'NotIn', 'a'), label('disk', 'DoesNotExist')), [], undefined);
  check(wanting(label('zone', 'Exists')), [], undefined);
  check(wanting(label('disk', 'Exists')), [], 'NodeAffinity');
  check(wanting(label('cores', 'Gt', '4')), [], undefined);
  check(wanting(label('cores', 'Lt', '8')), [], 'NodeAffinity');
  check(wanting(label('zone', 'Gt', '4')), [], 'NodeAffinity');
  check(wanting({}), [], 'NodeAffinity');
  check(wanting({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['here'] }] }), [], undefined);
  check(wanting({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['here'] }] }), [], 'NodeAffinity');
  assert.equal(
    refusePod(wanting({}), [], node)?.message,
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  );
});

test('a pod whose groups must be its own is refused by a runtime that cannot hold to that', () => {
  const strict = podOf({ securityContext: { supplementalGroupsPolicy: 'Strict' } });
  const refusal = (pod: Pod, strictGroups?: boolean) => refusePod(pod, [], { ...node, strictGroups });
  assert.equal(refusal(strict), undefined);
  assert.equal(refusal(strict, true), undefined);
  assert.equal(refusal(podOf({ securityContext: { supplementalGroupsPolicy: 'Merge' } }), false), undefined);
  assert.deepEqual(refusal(strict, false), {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  });
});

test('a pod that asks for AppArmor is refused on a host without it', () => {
  const profile = (type: 'RuntimeDefault' | 'Unconfined') => ({ appArmorProfile: { type } });
  const refusal = (pod: Pod, appArmor?: boolean) => refusePod(pod, [], { ...node, appArmor });
  const whole = podOf({ securityContext: profile('RuntimeDefault') });
  assert.deepEqual(refusal(whole, false), {
    reason: 'AppArmor',
    message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
  });
  assert.equal(refusal(whole, true), undefined);
  assert.equal(refusal(whole), undefined, 'nobody looked');
  const one = (type: 'RuntimeDefault' | 'Unconfined') =>
    podOf({ containers: [{ name: 'a', image: 'i', securityContext: profile(type) }] });
  assert.equal(refusal(one('RuntimeDefault'), false)?.reason, 'AppArmor');
  assert.equal(refusal(one('Unconfined'), false), undefined);
  const annotated = podOf({});
  annotated.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/a': 'runtime/default' };
  assert.equal(refusal(annotated, false)?.reason, 'AppArmor');
});

test('a host port is taken by address and protocol', () => {
  check(withPort(80), [withPort(81)], undefined);
  check(withPort(80), [withPort(80)], 'NodePorts');
  check(withPort(80, '127.0.0.1'), [withPort(80)], 'NodePorts');
  check(withPort(80, '127.0.0.1'), [withPort(80, '127.0.0.2')], undefined);
  check(withPort(80), [withPort(80, '', 'UDP')], undefined);
});

test('only sysctls that stay in the pod are allowed', () => {
  const withSysctl = (name: string, spec: Partial<PodSpec> = {}) =>
    podOf({ ...spec, securityContext: { sysctls: [{ name, value: '1' }] } });
  check(withSysctl('net.ipv4.tcp_syncookies'), [], undefined);
  check(withSysctl('net/ipv4/tcp_syncookies'), [], undefined);
  check(withSysctl('kernel.msgmax'), [], undefined);
  check(withSysctl('kernel.sem'), [], 'SysctlForbidden');
  check(withSysctl('net.ipv4.tcp_syncookies', { hostNetwork: true }), [], 'SysctlForbidden');
});
