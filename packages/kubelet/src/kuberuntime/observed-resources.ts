import { type Container, type ResourceRequirements, withPodLimits } from '@podwright/kube-api';
import { type Enforcement, linuxResources } from '../cgroups/linux-resources.ts';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { ContainerLimits, GivenResources } from '../kubecontainer/runtime-pod.ts';

const PAGE_BYTES = 4096n;
const UNITS = [
  ['Gi', 1n << 30n],
  ['Mi', 1n << 20n],
  ['Ki', 1n << 10n],
] as const;

/**
 * Returns a running container's CPU and memory as reported by the container runtime, which may differ from the recorded ones. Amounts equal
 * to the recorded ones retain their notation. Pure.
 */
export function observedResources(
  recorded: GivenResources,
  actual: ContainerLimits | undefined,
  enforcement: Enforcement,
): GivenResources {
  if (actual === undefined) return recorded;
  const limited = withPodLimits({ name: '', resources: recorded } as Container, {
    containers: [],
    resources: recorded.pod,
  });
  const expected = linuxResources(
    {
      milliCpuRequest: requestOf(limited, 'cpu'),
      milliCpuLimit: limitOf(limited, 'cpu'),
      memoryLimitBytes: limitOf(limited, 'memory'),
    },
    enforcement,
  );
  let observed = recorded;
  if (pages(actual.memoryLimitInBytes) !== pages(expected.memoryLimitInBytes))
    observed = withLimit(observed, 'memory', bytesText(actual.memoryLimitInBytes));
  const milliCpu = milliCpuOf(actual);
  if (expected.cpuPeriod !== 0n && milliCpu !== milliCpuOf(expected))
    observed = withLimit(observed, 'cpu', milliCpu === 0n ? undefined : `${milliCpu}m`);
  if (actual.cpuShares !== 0n && actual.cpuShares !== expected.cpuShares)
    observed = {
      ...observed,
      requests: { ...observed.requests, cpu: `${(actual.cpuShares * 1000n + 1023n) / 1024n}m` },
    };
  return observed;
}

/** Converts an amount of memory to whole pages, rounded down as in the kernel; 0 means no limit. */
const pages = (bytes: bigint) => (bytes <= 0n ? 0n : bytes / PAGE_BYTES);

function milliCpuOf({ cpuQuota, cpuPeriod }: Pick<ContainerLimits, 'cpuQuota' | 'cpuPeriod'>): bigint {
  return cpuQuota <= 0n || cpuPeriod <= 0n ? 0n : (cpuQuota * 1000n) / cpuPeriod;
}

function bytesText(bytes: bigint): string | undefined {
  if (bytes <= 0n) return undefined;
  const [suffix, unit] = UNITS.find(([, one]) => bytes % one === 0n) ?? ['', 1n];
  return `${bytes / unit}${suffix}`;
}

/**
 * Sets a container's limit to the observed one. A request equal to the old limit changes along with it. If the container has no limit, the
 * pod-level limit is dropped too.
 */
function withLimit(given: GivenResources, name: 'cpu' | 'memory', text: string | undefined): GivenResources {
  const { limits = {}, requests, pod } = given;
  const { [name]: before, ...others } = limits;
  if (text === undefined) return { ...given, limits: others, ...(pod && { pod: withoutLimit(pod, name) }) };
  const follows = before !== undefined && requests?.[name] === before;
  return { ...given, limits: { ...others, [name]: text }, ...(follows && { requests: { ...requests, [name]: text } }) };
}

function withoutLimit({ limits = {}, ...rest }: ResourceRequirements, name: 'cpu' | 'memory'): ResourceRequirements {
  const { [name]: _, ...others } = limits;
  return { ...rest, limits: others };
}
