import { create, toBinary } from '@bufbuild/protobuf';
import {
  type MessageInitShape,
  NamespaceMode,
  PodSandboxConfigSchema,
  Protocol,
  type UserNamespaceSchema,
} from '@podwright/cri';
import type { SandboxConfig, SandboxRecord } from '../../records/sandbox-record.ts';

/** Describes a pod to shims that manage sandboxes themselves: the CRI's PodSandboxConfig, as in containerd. */
export function describeSandbox({ config }: SandboxRecord): { typeUrl: string; value: Uint8Array } {
  const { podName: name, podUid: uid, podNamespace: namespace, attempt } = config;
  const { hostname, logDirectory, labels, annotations, cgroupParent, sysctls, privileged } = config;
  const message = create(PodSandboxConfigSchema, {
    metadata: { name, uid, namespace, attempt },
    ...{ hostname, logDirectory, labels, annotations },
    dnsConfig: config.dns,
    portMappings: config.portMappings.map(({ protocol, ...mapping }) => ({
      protocol: PROTOCOLS[protocol],
      ...mapping,
    })),
    linux: { cgroupParent, sysctls, securityContext: { privileged, namespaceOptions: namespaceOptions(config) } },
  });
  return { typeUrl: PodSandboxConfigSchema.typeName, value: toBinary(PodSandboxConfigSchema, message) };
}

const PROTOCOLS = { tcp: Protocol.TCP, udp: Protocol.UDP, sctp: Protocol.SCTP };
const MODES = { pod: NamespaceMode.POD, container: NamespaceMode.CONTAINER, node: NamespaceMode.NODE };

function namespaceOptions({ network, ipc, pid, userNamespace }: SandboxConfig) {
  return { network: MODES[network], ipc: MODES[ipc], pid: MODES[pid], usernsOptions: usersOf(userNamespace) };
}

function usersOf(mappings: SandboxConfig['userNamespace']): MessageInitShape<typeof UserNamespaceSchema> | undefined {
  return mappings === undefined ? undefined : { mode: NamespaceMode.POD, ...mappings };
}
