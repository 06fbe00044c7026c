import {
  allContainers,
  type Container,
  claimStatusesOf,
  dottedSysctl,
  isClaimed,
  isStaticPod,
  namespacedName,
  type Pod,
  podRequest,
  portText,
  type SelectableNode,
  type Taint,
  takenPort,
  toleratesTaint,
  wantsAppArmor,
  wantsNode,
} from '@podwright/kube-api';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

/** The resources and features that a node offers to pods. */
export type NodeFacts = SelectableNode & {
  maxPods: number;
  allowedUnsafeSysctls: string[];
  /** Whether the container runtime supports `supplementalGroupsPolicy: Strict`; absent if unknown. */
  strictGroups?: boolean;
  /** Whether AppArmor is enabled on the host; absent if unknown. */
  appArmor?: boolean;
  /** The Node object's taints; absent if there is no API server. */
  taints?: readonly Taint[];
  /** Allocatable amounts: `cpu` in millicores, others in bytes or counts. */
  resources: Readonly<Record<string, bigint>>;
};

/** A resource that the node is short of; amounts are in the resource's unit. */
export type Shortage = { resource: string; requested: bigint; used: bigint; capacity: bigint };

/** The reason why a pod must not run on the node. */
export type Refusal = WaitingReason & {
  /** The missing resources, if they are the reason for the refusal. */
  shortages?: Shortage[];
  /** A further reason, which would still apply even if enough resources were freed. */
  besides?: WaitingReason;
};

/** Safe sysctls: those isolated by the pod's namespaces (Kubernetes: Using sysctls in a cluster). */
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

/**
 * Returns why the pod cannot run on the node alongside the other pods; `undefined` if it can. The reasons, the messages and their order are
 * the same as upstream's. Pure.
 */
export function refusePod(pod: Pod, others: Pod[], node: NodeFacts): Refusal | undefined {
  const hopeless = refuseSysctls(pod, node) ?? refuseOs(pod) ?? refuseGroups(pod, node);
  if (hopeless !== undefined) return hopeless;
  const shortages = findShortages(pod, others, node);
  const besides = refuseNode(pod, node) ?? refusePorts(pod, others) ?? refuseTaints(pod, node);
  if (shortages.length === 0) return besides ?? refuseAppArmor(pod, node);
  const { resource, requested, used, capacity } = shortages[0]!;
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message, shortages, besides };
}

/**
 * Returns the resources that the node is short of: the number of pods first, then the requested resources. As in upstream, extended
 * resources that the node does not have are not checked.
 */
function findShortages(pod: Pod, others: Pod[], { maxPods, resources }: NodeFacts): Shortage[] {
  const shortages: Shortage[] = [];
  if (others.length >= maxPods)
    shortages.push({ resource: 'pods', requested: 1n, used: BigInt(others.length), capacity: BigInt(maxPods) });
  for (const resource of requestedNames(pod)) {
    const requested = podRequest(withoutClaimed(pod), resource);
    if (requested === 0n || (resource.includes('/') && resources[resource] === undefined)) continue;
    const used = others.reduce((sum, other) => sum + podRequest(other, resource), 0n);
    const capacity = resources[resource] ?? 0n;
    if (requested > capacity - used) shortages.push({ resource, requested, used, capacity });
  }
  return shortages;
}

/** Returns the pod without the requests that are satisfied by a ResourceClaim, because the claim's DRA driver accounts for those. */
function withoutClaimed(pod: Pod): Pod {
  if (claimStatusesOf(pod).extendedResourceClaimStatus === undefined) return pod;
  const left = (container: Container): Container => {
    const requests = Object.entries(container.resources?.requests ?? {});
    const own = requests.filter(([name]) => !isClaimed(pod, container.name, name));
    return { ...container, resources: { ...container.resources, requests: Object.fromEntries(own) } };
  };
  const { containers, initContainers } = pod.spec;
  return { ...pod, spec: { ...pod.spec, containers: containers.map(left), initContainers: initContainers?.map(left) } };
}

/** Returns the names of all requested resources in upstream's order, which begins with the three that every node has. */
function requestedNames({ spec }: Pod): string[] {
  const all = [...allContainers(spec), spec].flatMap(({ resources }) => [resources?.requests, resources?.limits]);
  const requested = [...all, spec.overhead].flatMap((list) => Object.keys(list ?? {}));
  return [...new Set(['cpu', 'memory', 'ephemeral-storage', ...requested])];
}

function refuseOs({ metadata, spec }: Pod): Refusal | undefined {
  const label = metadata.labels?.['kubernetes.io/os'];
  if (label !== undefined && label !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec.os === undefined || spec.os.name === 'linux') return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
}

function refuseNode(pod: Pod, node: NodeFacts): Refusal | undefined {
  if (wantsNode(pod, node)) return undefined;
  return unfit('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
}

/** Rejects a pod that does not tolerate the node's NoExecute taints. Static pods are exempt, because no scheduler has placed them. */
function refuseTaints(pod: Pod, { taints = [] }: NodeFacts): Refusal | undefined {
  if (isStaticPod(pod) || toleratesAll(pod, taints)) return undefined;
  return unfit('TaintToleration', "node(s) had taints that the pod didn't tolerate");
}

/** Whether the pod tolerates all NoExecute taints (Toleration.ToleratesTaint). Pure. */
function toleratesAll({ spec: { tolerations = [] } }: Pod, taints: readonly Taint[]): boolean {
  const ending = taints.filter(({ effect }) => effect === 'NoExecute');
  return ending.every((taint) => toleratesTaint(tolerations, taint));
}

function refuseGroups({ spec }: Pod, { strictGroups }: NodeFacts): Refusal | undefined {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || strictGroups !== false) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
}

function refuseAppArmor(pod: Pod, { appArmor }: NodeFacts): Refusal | undefined {
  if (appArmor !== false || !wantsAppArmor(pod)) return undefined;
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' };
}

const unfit = (reason: string, why: string): Refusal => ({
  reason,
  message: `Predicate ${reason} failed: ${why}`,
});

/**
 * Rejects a pod if one of its host ports is used by another pod. The message is upstream's, followed by the conflicting port and the other
 * pod's name.
 */
function refusePorts(pod: Pod, others: Pod[]): Refusal | undefined {
  const taken = takenPort(pod, others);
  if (taken === undefined) return undefined;
  const which = `port ${portText(taken.wanted)} of the host is taken by pod ${namespacedName(taken.holder)}`;
  return unfit('NodePorts', `node(s) didn't have free ports for the requested pod ports: ${which}`);
}

function refuseSysctls(pod: Pod, node: NodeFacts): Refusal | undefined {
  for (const { name } of pod.spec.securityContext?.sysctls ?? []) {
    const why = whyForbidden(pod, dottedSysctl(name), node);
    if (why !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${name}" ${why}` };
  }
  return undefined;
}

function whyForbidden({ spec }: Pod, name: string, { allowedUnsafeSysctls }: NodeFacts): string | undefined {
  const allowed = allowedUnsafeSysctls.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  if (!SAFE_SYSCTLS.has(name) && !allowed) return 'not allowlisted';
  if (spec.hostNetwork && name.startsWith('net.')) return 'not allowed with host Net enabled';
  if (spec.hostIPC && !name.startsWith('net.')) return 'not allowed with host IPC enabled';
  return undefined;
}
