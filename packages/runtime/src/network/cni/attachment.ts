import type { Attachment, CniResult } from '@podwright/cni';
import type { NetworkRequest, NetworkResult, PortMapping } from '../network.ts';

/** The interface that Kubernetes expects in a pod. */
const INTERFACE_NAME = 'eth0';

/** Bursts are not limited: the largest number of bits that plugins take. */
const UNLIMITED_BURST = 2 ** 31 - 1;

/** A sandbox's attachment, with the arguments and capabilities that plugins know from other runtimes. */
export function attachmentOf(request: NetworkRequest): Attachment {
  const { sandboxId, netnsPath, podNamespace, podName, podUid } = request;
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
    capabilityArgs: capabilitiesOf(request),
  };
}

/** Names and forms of the CNI conventions. */
function capabilitiesOf({ portMappings, bandwidth, cgroupParent }: NetworkRequest): Record<string, unknown> {
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
  return capabilities;
}

/** Ports that a pod declares without one of the host's are not mapped. */
export const publishedPorts = (mappings: PortMapping[]): PortMapping[] =>
  mappings.filter(({ hostPort }) => hostPort > 0);

function toCapability({ protocol, containerPort, hostPort, hostIp }: PortMapping): object {
  return { protocol, containerPort, hostPort, ...(hostIp !== '' && { hostIP: hostIp }) };
}

/** The sandbox's own addresses, in the plugins' order: those of an interface that is not the host's. */
export function networkResultOf({ ips, interfaces, dns }: CniResult): NetworkResult {
  const own = ips.filter(({ interfaceIndex: index }) => index === undefined || interfaces[index]?.sandbox !== '');
  return { ips: own.map(({ address }) => address), dnsServers: dns.nameservers };
}
