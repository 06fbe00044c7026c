import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '../api/types.ts';
import { DEFAULT_RESOURCE_POLICY } from '../node/resource-policy.ts';
import { podOverhead, podResources, podTotals } from './pod-resources.ts';

const enforcement = { policy: DEFAULT_RESOURCE_POLICY, host: { cgroupV2: false } };

/** A container as `cpu request/cpu limit/memory limit`; a `*` before it makes it a sidecar. */
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

test('containers that run together add up, with their sidecars', () => {
  check(podOf(['100m/200m/1Ki', '1/2/1Ki']), [1100, 2200, 2048]);
  check(podOf(['100m/200m/1Ki'], ['*50m/50m/1Ki']), [150, 250, 2048]);
});

test('an init container counts where it alone, with the sidecars before it, takes more', () => {
  check(podOf(['100m/100m/1Ki'], ['300m/300m/4Ki']), [300, 300, 4096]);
  check(podOf(['100m/100m/1Ki'], ['50m/50m/1Ki']), [100, 100, 1024]);
  check(podOf(['100m/100m/1Ki'], ['*20m/20m/1Ki', '300m/300m/4Ki']), [320, 320, 5120]);
  check(podOf(['100m/100m/1Ki'], ['300m/300m/4Ki', '*20m/20m/1Ki']), [300, 300, 4096]);
});

test('a request that is not given is that of the limit, and one container without a limit leaves the pod without', () => {
  check(podOf(['/500m/1Ki']), [500, 500, 1024]);
  check(podOf(['100m//1Ki', '/500m/']), [600, 0, 0]);
  check(podOf(['/500m/1Ki'], ['100m//']), [500, 0, 0]);
});

test('overhead comes on top of what is limited, and is told to the runtime apart', () => {
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
