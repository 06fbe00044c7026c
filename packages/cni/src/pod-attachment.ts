import type { Attachment } from './attachment.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { NetworkList } from './network-list.ts';
import type { CniResult } from './result.ts';

/** A port mapping from the host to the pod. An empty `hostIp` means all of the host's addresses; a `hostPort` of 0 means no mapping. */
export type PodPort = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** The pod properties that are passed to plugins. */
export type PodToAttach = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PodPort[];
  bandwidth?: Bandwidth;
  cgroupParent?: string;
  /** The subnets from which the pod's addresses are allocated, one per address family. */
  podCidrs?: string[];
  dns?: { servers: string[]; searches: string[]; options: string[] };
};

/** The interface name that Kubernetes expects in a pod. */
const INTERFACE_NAME = 'eth0';

/** The largest burst that plugins accept, in bits; effectively, only the rate is limited. */
const UNLIMITED_BURST = 2 ** 31 - 1;

/** Builds the attachment of a sandbox, with the arguments and capabilities that other container runtimes also pass to plugins. */
export function podAttachment(pod: PodToAttach): Attachment {
  const { sandboxId, netnsPath, podNamespace, podName, podUid } = pod;
  return {
    containerId: sandboxId,
    ifName: INTERFACE_NAME,
    netnsPath,
    args: [
      ['IgnoreUnknown', '1'], // without it plugins reject unknown arguments
      ['K8S_POD_NAMESPACE', podNamespace],
      ['K8S_POD_NAME', podName],
      ['K8S_POD_INFRA_CONTAINER_ID', sandboxId],
      ['K8S_POD_UID', podUid],
    ],
    capabilityArgs: capabilitiesOf(pod),
  };
}

/** Returns the capability arguments by capability name, in the format of the CNI conventions. */
function capabilitiesOf(pod: PodToAttach): Record<string, unknown> {
  const { portMappings, bandwidth, cgroupParent, podCidrs = [], dns } = pod;
  const capabilities: Record<string, unknown> = {};
  const mappings = publishedPorts(portMappings);
  if (mappings.length > 0) capabilities.portMappings = mappings.map(toCapability);
  if (cgroupParent !== undefined && cgroupParent !== '') capabilities.cgroupPath = cgroupParent;
  if (bandwidth !== undefined) {
    const { ingressRate, egressRate } = bandwidth;
    capabilities.bandwidth = {
      ...(ingressRate !== undefined && { ingressRate, ingressBurst: UNLIMITED_BURST }),
      ...(egressRate !== undefined && { egressRate, egressBurst: UNLIMITED_BURST }),
    };
  }
  if (podCidrs.length > 0) capabilities.ipRanges = podCidrs.map((subnet) => [{ subnet }]);
  if (dns !== undefined) capabilities.dns = dns;
  return capabilities;
}

/** Returns the ports to map. Ports without a host port are for information only. */
const publishedPorts = (mappings: PodPort[]): PodPort[] => mappings.filter(({ hostPort }) => hostPort > 0);

function toCapability({ protocol, containerPort, hostPort, hostIp }: PodPort): object {
  return { protocol, containerPort, hostPort, ...(hostIp !== '' && { hostIP: hostIp }) };
}

/** Returns the addresses of the sandbox itself, excluding those of host interfaces, in the order returned by the plugins. */
export function podAddresses({ ips, interfaces }: CniResult): string[] {
  const own = ips.filter(({ interfaceIndex: index }) => index === undefined || interfaces[index]?.sandbox !== '');
  return own.map(({ address }) => address);
}

/**
 * Removes `portmap` from the network of a pod without host ports, because it would only return its input. This saves most pods one plugin
 * run. The attachment's record contains the resulting list, which is also used for DEL.
 */
export function withoutIdlePlugins(
  list: NetworkList,
  { portMappings }: Pick<PodToAttach, 'portMappings'>,
): NetworkList {
  if (publishedPorts(portMappings).length > 0) return list;
  const plugins = list.plugins.filter(({ type }, index) => index === 0 || type !== 'portmap');
  return { ...list, plugins };
}
