import { isIP } from 'node:net';
import { basename } from 'node:path';
import { PodwrightError } from '@podwright/base';
import {
  type DNSConfig,
  idOf,
  invalid,
  type LinuxSandboxSecurityContext,
  NamespaceMode,
  type PodSandboxConfig,
  type PodSandboxMetadata,
  type PortMapping,
  Protocol,
  SupplementalGroupsPolicy,
} from '@podwright/cri';
import type { ContainerSpec, HostConfig } from '../engine/engine-types.ts';
import { CONTAINER_NAME_LABEL, dockerLabels, SANDBOX_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { formatName, SANDBOX_CONTAINER_NAME } from '../labels/names.ts';
import { encodeDetails, type SandboxDetails } from './sandbox-details.ts';

/** The kubelet's `oom_score_adj` for sandboxes: they are killed after the pods' containers, but before the Engine and the kubelet. */
export const SANDBOX_OOM_SCORE_ADJ = -998;
/** Size of /dev/shm, which all containers of the pod share. Same as Docker's default. */
const SHM_BYTES = 64 << 20;
/** CPU shares of a sandbox: the kernel's minimum, enough for an idle pause process. */
const SANDBOX_CPU_SHARES = 2;

/** Everything that a sandbox's spec depends on, apart from its CRI configuration. */
export type SandboxSpecInput = {
  image: string;
  details: SandboxDetails;
  /** Name of the Engine's OCI runtime. Default: the Engine's own default. */
  runtime?: string;
  /** The network plugin's network mode, used unless the pod is on the host network. */
  networkMode: string;
  oomScoreAdj: number;
  /** Values for the Engine's `SecurityOpt`, with the contents of profile files inlined. */
  securityOptions: string[];
};

/** Returns a sandbox's metadata. Throws `invalid_argument` if it is missing. */
export function requireMetadata(config: PodSandboxConfig | undefined): PodSandboxMetadata {
  if (config?.metadata === undefined) throw invalid('the sandbox configuration has no metadata');
  return config.metadata;
}

/** Returns a sandbox's name in the Engine. Throws `invalid_argument` for metadata that Docker does not allow in names. */
export function sandboxName({ name, namespace, uid, attempt }: PodSandboxMetadata): string {
  return formatName({ name: SANDBOX_CONTAINER_NAME, podName: name, namespace, uid, attempt });
}

export function isHostNetwork(config: PodSandboxConfig): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

/** Builds the spec of a sandbox's container. Throws `invalid_argument` for a malformed request. */
export function sandboxSpec(config: PodSandboxConfig, input: SandboxSpecInput): ContainerSpec {
  const security = config.linux?.securityContext;
  const own = { [TYPE_LABEL]: SANDBOX_TYPE, [CONTAINER_NAME_LABEL]: SANDBOX_CONTAINER_NAME };
  const user = userOf(security);
  return {
    Image: input.image,
    ...(config.hostname !== '' && { Hostname: config.hostname }),
    // NetworkDisabled rather than Docker's `none` network, because connecting the container to that would double its start time
    ...(input.networkMode === 'none' && !isHostNetwork(config) && { NetworkDisabled: true }),
    ...(user !== undefined && { User: user }),
    Labels: dockerLabels(config, { ...own, ...encodeDetails(input.details) }),
    ...exposedPorts(config, input.networkMode),
    HostConfig: {
      ...namespacesOf(config, input.networkMode),
      ...portBindings(config, input.networkMode),
      ...dnsOf(config.dnsConfig),
      ...cgroupOf(config),
      ...(input.runtime !== undefined && { Runtime: input.runtime }),
      ReadonlyRootfs: security?.readonlyRootfs ?? false,
      GroupAdd: groupsOf(security),
      SecurityOpt: input.securityOptions,
      Sysctls: config.linux?.sysctls ?? {},
      ShmSize: SHM_BYTES,
      OomScoreAdj: input.oomScoreAdj,
      CpuShares: SANDBOX_CPU_SHARES,
      RestartPolicy: { Name: 'no' },
    },
  };
}

/**
 * Returns the namespace modes of the sandbox's container, which holds the pod's network and IPC namespaces and, if the pod shares it, its
 * PID namespace.
 */
function namespacesOf(config: PodSandboxConfig, networkMode: string): HostConfig {
  const security = config.linux?.securityContext;
  const { network, ipc, pid } = security?.namespaceOptions ?? {};
  for (const [field, mode] of Object.entries({ network, ipc, pid }))
    if (mode !== undefined && NamespaceMode[mode] === undefined)
      throw invalid(`namespaceOptions.${field} ${mode} is unknown`);
  const isOnHost = [network, ipc, pid].includes(NamespaceMode.NODE) || security?.privileged === true;
  return {
    NetworkMode: isHostNetwork(config) ? 'host' : networkMode,
    IpcMode: ipc === NamespaceMode.NODE ? 'host' : 'shareable',
    ...(pid === NamespaceMode.NODE && { PidMode: 'host' }),
    // with userns-remap, the Engine rejects privileged containers and host namespaces unless UsernsMode is `host`
    ...(isOnHost && { UsernsMode: 'host' }),
  };
}

function userOf(security: LinuxSandboxSecurityContext | undefined): string | undefined {
  const [user, group] = [security?.runAsUser?.value, security?.runAsGroup?.value];
  if (user === undefined && group !== undefined) throw invalid('runAsGroup is set without runAsUser');
  if (user === undefined) return undefined;
  const id = idOf('runAsUser', user);
  return group === undefined ? `${id}` : `${id}:${idOf('runAsGroup', group)}`;
}

function groupsOf(security: LinuxSandboxSecurityContext | undefined): string[] {
  if (security?.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict)
    throw new PodwrightError(
      'failed_precondition',
      'supplementalGroupsPolicy Strict: the Docker Engine always adds the groups that the image gives the user',
    );
  return (security?.supplementalGroups ?? []).map((id) => String(idOf('supplementalGroups', id)));
}

function dnsOf(dns: DNSConfig | undefined): HostConfig {
  if (dns === undefined) return {};
  for (const entry of [...dns.servers, ...dns.searches, ...dns.options])
    if (/[\s\0]/.test(entry)) throw invalid(`DNS entry ${JSON.stringify(entry)} contains white space`);
  return { Dns: dns.servers, DnsSearch: dns.searches, DnsOptions: dns.options };
}

/** Returns the pod's cgroup. The Engine expects a slice name with the systemd cgroup driver, and a path with cgroupfs. */
function cgroupOf({ linux }: PodSandboxConfig): HostConfig {
  const parent = linux?.cgroupParent ?? '';
  if (parent === '') return {};
  return { CgroupParent: dockerCgroupParent(parent) };
}

/** Converts a pod's cgroup to the format expected by the Engine. Throws `invalid_argument` for a path that contains `..`. */
export function dockerCgroupParent(parent: string): string {
  if (parent.split('/').includes('..') || parent.includes('\0')) throw invalid(`cgroupParent "${parent}" has ".."`);
  return parent.endsWith('.slice') ? basename(parent) : parent;
}

const PROTOCOLS: Record<Protocol, string> = {
  [Protocol.TCP]: 'tcp',
  [Protocol.UDP]: 'udp',
  [Protocol.SCTP]: 'sctp',
};

function publishedPorts(config: PodSandboxConfig, networkMode: string): [key: string, mapping: PortMapping][] {
  const published = config.portMappings.filter(({ hostPort }) => hostPort > 0);
  const keys = published.map((mapping): [string, PortMapping] => [portKey(mapping), mapping]);
  // if a network plugin attaches the sandbox, the plugin also publishes the ports
  return networkMode === 'none' || isHostNetwork(config) ? [] : keys;
}

function portKey({ protocol, containerPort, hostPort, hostIp }: PortMapping): string {
  for (const port of [containerPort, hostPort])
    if (port < 1 || port > 65535) throw invalid(`port ${port} must be from 1 to 65535`);
  if (hostIp !== '' && isIP(hostIp) === 0) throw invalid(`hostIp "${hostIp}" of port ${hostPort} is not an IP address`);
  const name = PROTOCOLS[protocol];
  if (name === undefined) throw invalid(`protocol ${protocol} of port ${containerPort} is unknown`);
  return `${containerPort}/${name}`;
}

function exposedPorts(config: PodSandboxConfig, networkMode: string): Pick<ContainerSpec, 'ExposedPorts'> {
  const ports = publishedPorts(config, networkMode);
  return ports.length === 0 ? {} : { ExposedPorts: Object.fromEntries(ports.map(([key]) => [key, {}])) };
}

function portBindings(config: PodSandboxConfig, networkMode: string): HostConfig {
  const bindings: NonNullable<HostConfig['PortBindings']> = {};
  for (const [key, { hostIp, hostPort }] of publishedPorts(config, networkMode))
    bindings[key] = [...(bindings[key] ?? []), { HostIp: hostIp, HostPort: String(hostPort) }];
  return Object.keys(bindings).length === 0 ? {} : { PortBindings: bindings };
}
