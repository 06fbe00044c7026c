import type { Attachment } from './attachment.ts';
import type { Bandwidth } from './bandwidth.ts';
import type { NetworkList } from './network-list.ts';
import type { CniResult } from './result.ts';

/** A port of the host that leads to one of the pod. `hostIp` '' means every address, `hostPort` 0 none. */
export type PodPort = { protocol: 'tcp' | 'udp' | 'sctp'; containerPort: number; hostPort: number; hostIp: string };

/** What plugins are told of a pod. */
export type PodToAttach = {
  sandboxId: string;
  podName: string;
  podNamespace: string;
  podUid: string;
  netnsPath: string;
  portMappings: PodPort[];
  bandwidth?: Bandwidth;
  cgroupParent?: string;
  /** Subnets that the pod's addresses are to be of, one a family. */
  podCidrs?: string[];
  dns?: { servers: string[]; searches: string[]; options: string[] };
};

/** The interface that Kubernetes expects in a pod. */
const INTERFACE_NAME = 'eth0';

/** Bursts are not limited: the largest number of bits that plugins take. */
const UNLIMITED_BURST = 2 ** 31 - 1;

/** A sandbox's attachment, with the arguments and capabilities that plugins know from other runtimes. */
export function podAttachment(pod: PodToAttach): Attachment {
  const { sandboxId, netnsPath, podNamespace, podName, podUid } = pod;
  return {
    containerId: sandboxId,
    ifName: INTERFACE_NAME,
    netnsPath,
    args: [
      ['IgnoreUnknown', '1'], // plugins refuse arguments that they do not know, unless told
      ['K8S_POD_NAMESPACE', podNamespace],
      ['K8S_POD_NAME', podName],
      ['K8S_POD_INFRA_CONTAINER_ID', sandboxId],
      ['K8S_POD_UID', podUid],
    ],
    capabilityArgs: capabilitiesOf(pod),
  };
}

/** Names and forms of the CNI conventions. */
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

/** Ports that a pod declares without one of the host's are not mapped. */
const publishedPorts = (mappings: PodPort[]): PodPort[] => mappings.filter(({ hostPort }) => hostPort > 0);

function toCapability({ protocol, containerPort, hostPort, hostIp }: PodPort): object {
  return { protocol, containerPort, hostPort, ...(hostIp !== '' && { hostIP: hostIp }) };
}

/** The sandbox's own addresses, in the plugins' order: those of an interface that is not the host's. */
export function podAddresses({ ips, interfaces }: CniResult): string[] {
  const own = ips.filter(({ interfaceIndex: index }) => index === undefined || interfaces[index]?.sandbox !== '');
  return own.map(({ address }) => address);
}

/**
 * `portmap` passes the result on when it has no ports to map, so for most pods it is not started at all. The record of
 * the attachment holds the list as it was used, and DEL goes by that.
 */
export function withoutIdlePlugins(
  list: NetworkList,
  { portMappings }: Pick<PodToAttach, 'portMappings'>,
): NetworkList {
  if (publishedPorts(portMappings).length > 0) return list;
  const plugins = list.plugins.filter(({ type }, index) => index === 0 || type !== 'portmap');
  return { ...list, plugins };
}
