import { dottedSysctl } from '../api/sysctl.ts';
import { allContainers, isSidecar, type Pod } from '../api/types.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

/** What a node offers to the pods that want to run on it. */
export type NodeFacts = {
  labels: Record<string, string>;
  maxPods: number;
  allowedUnsafeSysctls: string[];
  /** Whether the runtime can keep containers from the groups of their image; absent if it was not asked. */
  strictGroups?: boolean;
};

/** Sysctls that are isolated in a pod's namespaces and affect no other pod (Kubernetes: Using sysctls in a cluster). */
const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);

/** Why the pod may not run here beside the others, if so. Pure; the reasons are the kubelet's. */
export function refusePod(pod: Pod, others: Pod[], node: NodeFacts): WaitingReason | undefined {
  if (others.length >= node.maxPods) {
    const message = `Node didn't have enough resource: pods, requested: 1, used: ${others.length}, capacity: ${node.maxPods}`;
    return { reason: 'OutOfpods', message };
  }
  return (
    refuseOs(pod) ??
    refuseGroups(pod, node) ??
    refuseSelector(pod, node) ??
    refusePorts(pod, others) ??
    refuseSysctls(pod, node)
  );
}

function refuseOs(pod: Pod): WaitingReason | undefined {
  if (pod.spec.os === undefined || pod.spec.os.name === 'linux') return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function refuseGroups({ spec }: Pod, { strictGroups }: NodeFacts): WaitingReason | undefined {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || strictGroups !== false) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
}

function refuseSelector(pod: Pod, node: NodeFacts): WaitingReason | undefined {
  const wrong = Object.entries(pod.spec.nodeSelector ?? {}).find(([key, value]) => node.labels[key] !== value);
  if (wrong === undefined) return undefined;
  const message = `Predicate NodeAffinity failed: the node has no label ${wrong[0]}=${wrong[1]}`;
  return { reason: 'NodeAffinity', message };
}

type HostPort = { ip: string; port: number; protocol: string };

function hostPorts(pod: Pod): HostPort[] {
  return allContainers(pod.spec)
    .filter((container) => pod.spec.containers.includes(container) || isSidecar(container))
    .flatMap(({ ports }) => ports ?? [])
    .filter(({ hostPort }) => (hostPort ?? 0) > 0)
    .map(({ hostPort, hostIP, protocol }) => ({ port: hostPort!, ip: anyIp(hostIP), protocol: protocol ?? 'TCP' }));
}

function anyIp(ip: string | undefined): string {
  return ip === undefined || ip === '' || ip === '::' ? '0.0.0.0' : ip;
}

function refusePorts(pod: Pod, others: Pod[]): WaitingReason | undefined {
  const wanted = hostPorts(pod);
  for (const other of others) {
    const clash = hostPorts(other).find((taken) => wanted.some((port) => conflicts(port, taken)));
    if (clash === undefined) continue;
    const { namespace, name } = other.metadata;
    const message = `Predicate NodePorts failed: host port ${clash.port}/${clash.protocol} is taken by pod ${namespace}/${name}`;
    return { reason: 'NodePorts', message };
  }
  return undefined;
}

function conflicts(a: HostPort, b: HostPort): boolean {
  const overlap = a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0';
  return a.port === b.port && a.protocol === b.protocol && overlap;
}

function refuseSysctls(pod: Pod, node: NodeFacts): WaitingReason | undefined {
  for (const { name } of pod.spec.securityContext?.sysctls ?? []) {
    const dotted = dottedSysctl(name);
    const hostShared =
      (pod.spec.hostNetwork && dotted.startsWith('net.')) || (pod.spec.hostIPC && dotted.startsWith('kernel.'));
    if (hostShared) {
      return {
        reason: 'SysctlForbidden',
        message: `forbidden sysctl: "${name}" not allowed with the host's namespace`,
      };
    }
    const allowed = node.allowedUnsafeSysctls.some((pattern) =>
      pattern.endsWith('*') ? dotted.startsWith(pattern.slice(0, -1)) : dotted === pattern,
    );
    if (!SAFE_SYSCTLS.has(dotted) && !allowed) {
      return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${name}" not allowlisted` };
    }
  }
  return undefined;
}
