import { create, DNSConfigSchema, type PodSandboxConfig, PortMappingSchema, Protocol } from '@podwright/cri';
import type { SandboxCheckpoint } from '../checkpoints/checkpoint.ts';
import type { NetworkSetup } from '../network/network-plugin.ts';
import { isHostNetwork, requireMetadata } from './sandbox-spec.ts';

/** Creates the checkpoint of a new sandbox. */
export function checkpointOf(
  config: PodSandboxConfig,
  made: { createdAtMs: number; network: string },
): SandboxCheckpoint {
  const { name, namespace, uid, attempt } = requireMetadata(config);
  const { dnsConfig: dns, linux } = config;
  const protocolOf = (protocol: Protocol) => Protocol[protocol] as keyof typeof Protocol;
  return {
    ...{ name, namespace, uid, attempt, ...made },
    hostNetwork: isHostNetwork(config),
    portMappings: config.portMappings.map(({ protocol, containerPort, hostPort, hostIp }) => {
      return { protocol: protocolOf(protocol), containerPort, hostPort, hostIp };
    }),
    ...(dns !== undefined && { dns: { servers: dns.servers, searches: dns.searches, options: dns.options } }),
    ...(linux !== undefined && linux.cgroupParent !== '' && { cgroupParent: linux.cgroupParent }),
  };
}

/** Returns the network parameters from a checkpoint. Without one, the ports, DNS settings and cgroup are unknown. */
export function networkFacts(
  checkpoint: SandboxCheckpoint | undefined,
): Pick<NetworkSetup, 'portMappings' | 'dns' | 'cgroupParent'> {
  const { portMappings = [], dns, cgroupParent } = checkpoint ?? {};
  return {
    portMappings: portMappings.map((mapping) =>
      create(PortMappingSchema, { ...mapping, protocol: Protocol[mapping.protocol] }),
    ),
    ...(dns !== undefined && { dns: create(DNSConfigSchema, dns) }),
    ...(cgroupParent !== undefined && { cgroupParent }),
  };
}
