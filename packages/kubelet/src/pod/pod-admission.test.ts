import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorRequirement, Pod, PodSpec, Toleration } from '@podwright/kube-api';
import { standardLabels } from '../node/node-facts.ts';
import { nodeFactsFromApi } from './node-offer.ts';
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

test('a node with the maximum number of pods rejects further pods', () => {
  check(podOf({}), [podOf({}), podOf({})], undefined);
  check(podOf({}), [podOf({}), podOf({}), podOf({})], 'OutOfpods');
});

test('a pod for a different operating system or different node labels is rejected', () => {
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

test('a pod that requests more than available is rejected with the amounts', () => {
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
    besides: undefined,
  });
});

test('requests satisfied by a ResourceClaim are not counted', () => {
  const pod = asking('example.com/fpga', '2');
  const offering = { ...node, resources: { ...node.resources, 'example.com/fpga': 1n } };
  assert.equal(refusePod(pod, [], offering)?.reason, 'OutOfexample.com/fpga');
  const requestMappings = [{ containerName: 'a', resourceName: 'example.com/fpga', requestName: 'r' }];
  const extendedResourceClaimStatus = { resourceClaimName: 'c', requestMappings };
  const claimed = { ...pod, status: { extendedResourceClaimStatus } } as unknown as Pod;
  assert.equal(refusePod(claimed, [], offering), undefined);
});

test('a rejection lists all insufficient resources and any further reason', () => {
  const elsewhere = asking('cpu', '3');
  elsewhere.spec.nodeSelector = { zone: 'b' };
  const refused = refusePod(elsewhere, [podOf({}), podOf({}), podOf({})], node);
  assert.equal(refused?.reason, 'OutOfpods');
  assert.deepEqual(
    refused?.shortages?.map(({ resource }) => resource),
    ['pods', 'cpu'],
  );
  assert.equal(refused?.besides?.reason, 'NodeAffinity');
  assert.equal(refusePod(asking('cpu', '3'), [], node)?.besides, undefined);
});

test('sidecars run concurrently with later containers, other init containers run alone', () => {
  const container = (name: string, cpu: string, restartPolicy?: 'Always') => ({
    ...{ name, image: 'i', restartPolicy },
    resources: { requests: { cpu } },
  });
  const pod = (init: ReturnType<typeof container>[], main: string) =>
    podOf({ initContainers: init, containers: [container('main', main)] });
  check(pod([container('init', '2')], '2'), [], undefined);
  check(pod([container('side', '1', 'Always')], '1'), [], undefined);
  check(pod([container('side', '1', 'Always')], '1001m'), [], 'OutOfcpu');
  check(pod([container('side', '1', 'Always'), container('init', '1001m')], '1m'), [], 'OutOfcpu');
  check(pod([container('init', '2'), container('side', '1', 'Always')], '1'), [], undefined);
});

test('pod-level resources override those of the containers, and the overhead is added', () => {
  const whole = (cpu: string, overhead = '0') =>
    podOf({ ...asking('cpu', '3').spec, resources: { requests: { cpu } }, overhead: { cpu: overhead } });
  check(whole('2'), [], undefined);
  check(whole('2', '1m'), [], 'OutOfcpu');
});

test('an extended resource is checked only if the node has it', () => {
  const offering = { ...node, resources: { ...node.resources, 'example.com/fpga': 1n } };
  const refusal = (amount: string) => refusePod(asking('example.com/fpga', amount), [], offering)?.reason;
  assert.equal(refusal('1'), undefined);
  assert.equal(refusal('2'), 'OutOfexample.com/fpga');
});

test('a pod that does not tolerate a NoExecute taint is rejected, unless it is static', () => {
  const fromApi = (...tolerations: Toleration[]): Pod => {
    const pod = podOf({ tolerations });
    return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'api' } } };
  };
  const refusal = (pod: Pod, effect = 'NoExecute') =>
    refusePod(pod, [], { ...node, taints: [{ key: 'k', value: 'v', effect }] });
  assert.deepEqual(refusal(fromApi()), {
    reason: 'TaintToleration',
    message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  });
  for (const tolerated of [
    refusal(fromApi(), 'NoSchedule'),
    refusal(podOf({})),
    refusal(fromApi({ operator: 'Exists' })),
    refusal(fromApi({ key: 'k', operator: 'Exists', effect: 'NoExecute' })),
    refusal(fromApi({ key: 'k', value: 'v' })),
  ])
    assert.equal(tolerated, undefined);
  for (const other of [
    { key: 'k' },
    { key: 'k', value: 'w' },
    { key: 'j', value: 'v' },
    ...['Lt', 'Near'].map((operator) => ({ key: 'k', operator, value: 'v' })),
  ])
    assert.equal(refusal(fromApi(other as Toleration))?.reason, 'TaintToleration');
  assert.equal(refusal(fromApi({ operator: 'Exists', effect: 'NoSchedule' }))?.reason, 'TaintToleration');
});

test('the beta label for the operating system can be selected', () => {
  const beta = podOf({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } });
  assert.equal(refusePod(beta, [], { ...node, labels: standardLabels('here') }), undefined);
});

test('the labels, taints and extended resources of the Node object are considered', () => {
  const facts = nodeFactsFromApi(node, {
    metadata: { name: 'here', labels: { disk: 'ssd', 'kubernetes.io/os': 'plan9' } },
    spec: { taints: [{ key: 'k', effect: 'NoExecute' }] },
    status: { allocatable: { cpu: '64', 'example.com/fpga': '2' } },
  });
  assert.deepEqual(facts.labels, { disk: 'ssd', 'kubernetes.io/os': 'linux' });
  assert.deepEqual(facts.taints, [{ key: 'k', effect: 'NoExecute' }]);
  assert.deepEqual(facts.resources, { ...node.resources, 'example.com/fpga': 2n });
});

test('a node satisfies the required affinity if it matches all expressions of one term', () => {
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
  check(wanting(label('zone', 'Near' as 'In', 'a')), [], 'NodeAffinity');
  check(wanting({}), [], 'NodeAffinity');
  check(wanting({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['here'] }] }), [], undefined);
  check(wanting({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['here'] }] }), [], 'NodeAffinity');
  assert.equal(
    refusePod(wanting({}), [], node)?.message,
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  );
});

test('a pod with supplementalGroupsPolicy Strict is rejected if the runtime does not support it', () => {
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

test('a pod with an AppArmor profile is rejected on a host without AppArmor', () => {
  const profile = (type: 'RuntimeDefault' | 'Unconfined') => ({ appArmorProfile: { type } });
  const refusal = (pod: Pod, appArmor?: boolean) => refusePod(pod, [], { ...node, appArmor });
  const whole = podOf({ securityContext: profile('RuntimeDefault') });
  assert.deepEqual(refusal(whole, false), {
    reason: 'AppArmor',
    message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
  });
  assert.equal(refusal(whole, true), undefined);
  assert.equal(refusal(whole), undefined, 'it is unknown whether the host has AppArmor');
  const one = (type: 'RuntimeDefault' | 'Unconfined') =>
    podOf({ containers: [{ name: 'a', image: 'i', securityContext: profile(type) }] });
  assert.equal(refusal(one('RuntimeDefault'), false)?.reason, 'AppArmor');
  assert.equal(refusal(one('Unconfined'), false), undefined);
  const annotated = podOf({});
  annotated.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/a': 'runtime/default' };
  assert.equal(refusal(annotated, false)?.reason, 'AppArmor');
});

test('host ports conflict by address and protocol', () => {
  check(withPort(80), [withPort(81)], undefined);
  check(withPort(80), [withPort(80)], 'NodePorts');
  check(withPort(80, '127.0.0.1'), [withPort(80)], 'NodePorts');
  check(withPort(80, '127.0.0.1'), [withPort(80, '127.0.0.2')], undefined);
  check(withPort(80), [withPort(80, '', 'UDP')], undefined);
  check(withPort(80, '::'), [withPort(80)], 'NodePorts');
  check(withPort(80, '::'), [withPort(80, '::')], 'NodePorts');
  check(withPort(80, '::'), [withPort(80, '127.0.0.1')], undefined);
  check(withPort(80, '::'), [withPort(80, '::1')], undefined); // as upstream
});

test('the message for a host port in use names the port and the pod that uses it', () => {
  const holder = withPort(80, '127.0.0.1');
  holder.metadata.name = 'holder';
  assert.match(
    refusePod(withPort(80), [withPort(81), holder], node)!.message,
    /^Predicate NodePorts failed: node\(s\) didn't have free ports for the requested pod ports: port 80\/TCP of the host is taken by pod default\/holder$/,
  );
});

test('only sysctls isolated by the pod’s namespaces are allowed', () => {
  const withSysctl = (name: string, spec: Partial<PodSpec> = {}) =>
    podOf({ ...spec, securityContext: { sysctls: [{ name, value: '1' }] } });
  check(withSysctl('net.ipv4.tcp_syncookies'), [], undefined);
  check(withSysctl('net/ipv4/tcp_syncookies'), [], undefined);
  check(withSysctl('kernel.msgmax'), [], undefined);
  check(withSysctl('kernel.sem'), [], 'SysctlForbidden');
  check(withSysctl('net.ipv4.tcp_syncookies', { hostNetwork: true }), [], 'SysctlForbidden');
});
