import { isIP } from 'node:net';
import { basename } from 'node:path';
import {
  type PortMapping as CriPortMapping,
  invalid,
  type LinuxPodSandboxConfig,
  NamespaceMode,
  type NamespaceOption,
  type PodSandboxConfig,
  Protocol,
  plainText,
} from '@podwright/cri';
import { slicePath } from '@podwright/host';
import type { PortMapping } from '../../network/network.ts';
import type { PidNamespaceMode, SandboxConfig, SandboxNamespaceMode } from '../../records/sandbox-record.ts';
import { containerResources } from './container-resources.ts';
import { selinuxOf } from './security-context.ts';
import { userNamespaceOf } from './user-namespace.ts';

/** Maximum length of a Linux host name (sethostname(2)). */
const MAX_HOSTNAME_BYTES = 64;

/** Converts and validates the CRI's PodSandboxConfig. Throws `invalid_argument` for invalid values. */
export function sandboxConfig(config: PodSandboxConfig | undefined, runtimeHandler: string): SandboxConfig {
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined) throw invalid('the sandbox configuration has no metadata');
  if (metadata.name === '') throw invalid('the sandbox has no name');
  const security = config.linux?.securityContext;
  const namespaces = security?.namespaceOptions;
  return {
    podName: metadata.name,
    podUid: metadata.uid,
    podNamespace: metadata.namespace,
    attempt: metadata.attempt,
    hostname: checkHostname(config.hostname),
    logDirectory: checkLogDirectory(config.logDirectory),
    ...(config.dnsConfig === undefined ? {} : { dns: dnsOf(config.dnsConfig) }),
    portMappings: config.portMappings.filter(({ hostPort }) => hostPort > 0).map(portMapping),
    labels: config.labels,
    annotations: config.annotations,
    cgroupParent: checkCgroupParent(config.linux?.cgroupParent ?? ''),
    network: ownOrNode('network', namespaces?.network),
    ipc: ownOrNode('ipc', namespaces?.ipc),
    pid: pidMode(namespaces?.pid),
    ...userNamespace(namespaces, security?.privileged ?? false),
    sysctls: config.linux?.sysctls ?? {},
    ...selinuxOf(security?.selinuxOptions),
    privileged: security?.privileged ?? false,
    ...resourcesOf(config.linux),
    runtimeHandler,
  };
}

/** Returns the pod-level resources, as sent by kubelets with in-place resize. */
function resourcesOf(linux: LinuxPodSandboxConfig | undefined): Pick<SandboxConfig, 'resources'> {
  if (linux?.overhead === undefined && linux?.resources === undefined) return {};
  return {
    resources: { overhead: containerResources(linux.overhead), containers: containerResources(linux.resources) },
  };
}

/** Returns `node` for the host's namespace; every other known mode means the pod's own namespace. */
function ownOrNode(field: string, mode: NamespaceMode | undefined): SandboxNamespaceMode {
  if (mode !== undefined && NamespaceMode[mode] === undefined)
    throw invalid(`namespaceOptions.${field} ${mode} is unknown`);
  return mode === NamespaceMode.NODE ? 'node' : 'pod';
}

function pidMode(mode: NamespaceMode | undefined): PidNamespaceMode {
  return mode === NamespaceMode.CONTAINER ? 'container' : ownOrNode('pid', mode);
}

/**
 * Returns the pod's user namespace. Throws `invalid_argument` if the pod is privileged or uses the host's PID or IPC namespace: a user
 * namespace would give it no privileges over the host's processes, and it could not even mount /proc.
 */
function userNamespace(
  namespaces: NamespaceOption | undefined,
  privileged: boolean,
): Pick<SandboxConfig, 'userNamespace'> {
  const mappings = userNamespaceOf(namespaces?.usernsOptions);
  if (mappings === undefined) return {};
  for (const kind of ['pid', 'ipc'] as const) {
    if (namespaces?.[kind] === NamespaceMode.NODE)
      throw invalid(`a pod in a user namespace of its own cannot have the host's ${kind} namespace`);
  }
  if (privileged) throw invalid('a pod in a user namespace of its own cannot be privileged');
  return { userNamespace: mappings };
}

function dnsOf({ servers, searches, options }: { servers: string[]; searches: string[]; options: string[] }) {
  for (const entry of [...servers, ...searches, ...options]) {
    if (/[\s\0]/.test(entry)) throw invalid(`DNS entry ${JSON.stringify(entry)} contains white space`);
  }
  return { servers, searches, options };
}

function checkHostname(hostname: string): string {
  if (Buffer.byteLength(hostname) > MAX_HOSTNAME_BYTES || /[\s\0/]/.test(hostname)) {
    throw invalid(
      `host name ${JSON.stringify(hostname)}: at most ${MAX_HOSTNAME_BYTES} bytes without spaces and slashes`,
    );
  }
  return hostname;
}

function checkLogDirectory(directory: string): string {
  if (directory === '' || (directory.startsWith('/') && !directory.split('/').includes('..')))
    return plainText('logDirectory', directory);
  throw invalid(`log directory "${directory}" must be an absolute path without ".."`);
}

function checkCgroupParent(parent: string): string {
  if (parent.split('/').includes('..')) throw invalid(`cgroupParent "${parent}" has ".."`);
  if (parent.endsWith('.slice')) slicePath(basename(parent)); // throws for an invalid name
  return plainText('cgroupParent', parent);
}

const PROTOCOLS: Record<Protocol, PortMapping['protocol']> = {
  [Protocol.TCP]: 'tcp',
  [Protocol.UDP]: 'udp',
  [Protocol.SCTP]: 'sctp',
};

function portMapping({ protocol, containerPort, hostPort, hostIp }: CriPortMapping): PortMapping {
  for (const port of [containerPort, hostPort]) {
    if (port < 1 || port > 65535) throw invalid(`port ${port} is not one from 1 to 65535`);
  }
  if (hostIp !== '' && isIP(hostIp) === 0) throw invalid(`hostIp "${hostIp}" of port ${hostPort} is no address`);
  const name = PROTOCOLS[protocol];
  if (name === undefined) throw invalid(`protocol ${protocol} of port ${containerPort} is unknown`);
  return { protocol: name, containerPort, hostPort, hostIp };
}
