import { create, type LinuxContainerResources, LinuxContainerResourcesSchema } from '@podwright/cri';
import { amountOf, inUnits, overheadOf, type Pod } from '@podwright/kube-api';
import { type Enforcement, linuxResources } from './linux-resources.ts';

/** Returns the pod's resources, excluding overhead, for container runtimes that size a virtual machine accordingly. */
export function podResources(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  return linuxResources(
    {
      milliCpuRequest: inUnits(amountOf(pod, 'requests', 'cpu'), 'cpu'),
      milliCpuLimit: inUnits(amountOf(pod, 'limits', 'cpu'), 'cpu'),
      memoryLimitBytes: inUnits(amountOf(pod, 'limits', 'memory'), 'memory'),
    },
    enforcement,
  );
}

export function podOverhead(pod: Pod, enforcement: Enforcement): LinuxContainerResources {
  if (pod.spec.overhead === undefined) return create(LinuxContainerResourcesSchema);
  const milliCpu = inUnits(overheadOf(pod, 'cpu'), 'cpu');
  const memoryLimitBytes = inUnits(overheadOf(pod, 'memory'), 'memory');
  return linuxResources({ milliCpuRequest: milliCpu, milliCpuLimit: milliCpu, memoryLimitBytes }, enforcement);
}
