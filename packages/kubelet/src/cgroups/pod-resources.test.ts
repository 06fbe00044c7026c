import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Container, type Pod, type PodSpec, podRequest, podTotals, qosClass } from '@podwright/kube-api';
import { DEFAULT_RESOURCE_POLICY } from '../../../kubelet-configuration/src/options/resource-policy.ts';
import { podOverhead, podResources } from './pod-resources.ts';

const enforcement = { policy: DEFAULT_RESOURCE_POLICY, host: { cgroupV2: false } };

/** Parses a container from `cpu request/cpu limit/memory limit`; a leading `*` makes it a sidecar. */
function containerOf(text: string, index: number): Container {
  const [request = '', limit = '', memory = ''] = text.replace('*', '').split('/');
  return {
    name: `c${index}`,
    image: 'busybox',
    ...(text.startsWith('*') ? { restartPolicy: 'Always' } : {}),
    resources: {
      requests: request === '' ? {} : { cpu: request },
      limits: { ...(limit === '' ? {} : { cpu: limit }), ...(memory === '' ? {} : { memory }) },
    },
  };
}

function podOf(containers: string[], init: string[] = [], rest: Partial<PodSpec> = {}): Pod {
  const spec = { containers: containers.map(containerOf), initContainers: init.map(containerOf), ...rest };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec };
}

function check(pod: Pod, expected: [request: number, limit: number, memory: number]): void {
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes } = podTotals(pod);
  assert.deepEqual([milliCpuRequest, milliCpuLimit, memoryLimitBytes].map(Number), expected);
}

test('containers running together are summed, including sidecars', () => {
  check(podOf(['100m/200m/1Ki', '1/2/1Ki']), [1100, 2200, 2048]);
  check(podOf(['100m/200m/1Ki'], ['*50m/50m/1Ki']), [150, 250, 2048]);
});

test('sums above 64 bits are capped at the maximum', () => {
  const pod = podOf(['1/1e17/8E', '1/1e17/8E', '1/1e17/8E']);
  const { memoryLimitInBytes, cpuQuota, cpuShares } = podResources(pod, enforcement);
  assert.deepEqual([memoryLimitInBytes, cpuQuota, cpuShares], [2n ** 63n - 1n, 2n ** 44n - 1n, 3072n]);
  const { memoryLimitBytes } = podTotals(pod);
  assert.equal(memoryLimitBytes, 2n ** 63n - 1n);
});

test('an init container counts if it and the preceding sidecars need more than the other containers', () => {
  check(podOf(['100m/100m/1Ki'], ['300m/300m/4Ki']), [300, 300, 4096]);
  check(podOf(['100m/100m/1Ki'], ['50m/50m/1Ki']), [100, 100, 1024]);
  check(podOf(['100m/100m/1Ki'], ['*20m/20m/1Ki', '300m/300m/4Ki']), [320, 320, 5120]);
  check(podOf(['100m/100m/1Ki'], ['300m/300m/4Ki', '*20m/20m/1Ki']), [300, 300, 4096]);
});

test('a missing request defaults to the limit, and one container without a limit makes the pod unlimited', () => {
  check(podOf(['/500m/1Ki']), [500, 500, 1024]);
  check(podOf(['100m//1Ki', '/500m/']), [600, 0, 0]);
  check(podOf(['/500m/1Ki'], ['100m//']), [500, 0, 0]);
});

test('overhead is added to limits, and sent separately to the runtime', () => {
  const pod = podOf(['100m/200m/1Ki'], [], { overhead: { cpu: '50m', memory: '1Ki' } });
  check(pod, [150, 250, 2048]);
  check(podOf(['100m//'], [], { overhead: { cpu: '50m', memory: '1Ki' } }), [150, 0, 0]);
  assert.equal(podResources(pod, enforcement).memoryLimitInBytes, 1024n);
  assert.equal(podResources(pod, enforcement).cpuQuota, 20_000n);
  assert.deepEqual(
    [podOverhead(pod, enforcement).cpuQuota, podOverhead(pod, enforcement).memoryLimitInBytes],
    [5000n, 1024n],
  );
  assert.equal(podOverhead(podOf(['']), enforcement).cpuShares, 0n);
});

test('pod-level resources replace the sums of the containers', () => {
  const resources = (requests: object, limits: object) => ({ resources: { requests, limits } as never });
  const both = { cpu: '1', memory: '1Ki' };
  check(podOf(['//'], [], resources(both, both)), [1000, 1000, 1024]);
  check(podOf(['100m/200m/'], [], resources({ cpu: '500m' }, {})), [500, 200, 0]);
  check(podOf(['100m//', '100m//'], [], resources({}, { memory: '2Ki' })), [200, 0, 2048]);
  check(podOf(['//'], [], { ...resources(both, both), overhead: { cpu: '50m', memory: '1Ki' } }), [1050, 1050, 2048]);
  const whole = podResources(podOf(['//'], [], resources(both, both)), enforcement);
  assert.deepEqual([whole.cpuShares, whole.cpuQuota, whole.memoryLimitInBytes], [1024n, 100_000n, 1024n]);
});

test('pod-level resources determine the QoS class if set', () => {
  const classOf = (requests: Record<string, string>, limits: Record<string, string>, container = '100m//') =>
    qosClass(podOf([container], [], { resources: { requests, limits } }));
  const both = { cpu: '1', memory: '1Ki' };
  assert.equal(classOf(both, both), 'Guaranteed');
  assert.equal(classOf(both, { cpu: '2', memory: '1Ki' }), 'Burstable');
  assert.equal(classOf({ cpu: '1' }, { cpu: '1' }), 'Burstable');
  assert.equal(classOf({ cpu: '1' }, {}, '1/1/1Ki'), 'Burstable');
  assert.equal(classOf({}, {}), 'BestEffort', 'empty pod-level resources');
});

test('an init container without limits does not make the pod unlimited if it follows a sidecar with limits', () => {
  check(podOf(['100m/100m/1Ki'], ['*100m/100m/1Ki', '//']), [200, 200, 2048]);
  check(podOf(['100m/100m/1Ki'], ['//', '*100m/100m/1Ki']), [200, 0, 0]);
});

test('a BestEffort pod has the minimum shares, whatever its overhead', () => {
  check(podOf(['//'], [], { overhead: { cpu: '500m', memory: '1Ki' } }), [0, 0, 0]);
});

test('huge pages are summed by size, including those of init containers', () => {
  const container = (amount: string): Container => ({
    name: 'h',
    image: 'i',
    resources: { limits: { cpu: '1', 'hugepages-2Mi': amount } },
  });
  const pod = podOf([]);
  pod.spec = { containers: [container('2Mi'), container('4Mi')], initContainers: [container('8Mi')] };
  assert.deepEqual(podTotals(pod).hugePages, { 'hugepages-2Mi': 8n << 20n });
});

test('amounts are rounded after summing', () => {
  assert.equal(podRequest(podOf(['100500u//', '100500u//']), 'cpu'), 201n);
});
