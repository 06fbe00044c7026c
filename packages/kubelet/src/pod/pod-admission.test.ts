import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../api/types.ts';
import { refusePod } from './pod-admission.ts';

const node = { labels: { 'kubernetes.io/os': 'linux' }, maxPods: 3, allowedUnsafeSysctls: ['kernel.msg*'] };

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
