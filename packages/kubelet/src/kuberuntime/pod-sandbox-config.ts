import { join } from 'node:path';
import {
  create,
  type DNSConfig,
  Int64ValueSchema,
  type LinuxPodSandboxConfig,
  LinuxPodSandboxConfigSchema,
  LinuxSandboxSecurityContextSchema,
  type NamespaceOption,
  type PodSandboxConfig,
  PodSandboxConfigSchema,
  PortMappingSchema,
  Protocol,
  SecurityProfile_ProfileType,
  SecurityProfileSchema,
} from '@podwright/cri';
import { allContainers, dottedSysctl, isSidecar, type Pod } from '@podwright/kube-api';
import type { Enforcement } from '../cgroups/linux-resources.ts';
import { podOverhead, podResources } from '../cgroups/pod-resources.ts';
import { podHostname } from '../container/pod-hostname.ts';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import { sandboxAnnotations, sandboxLabels } from './labels.ts';
import { groupsPolicy, selinux, supplementalGroups } from './security-context.ts';

export type SandboxConfigInput = {
  pod: Pod;
  attempt: number;
  dns: DNSConfig;
  podLogsDir: string;
  /** The pod's cgroup; '' if the container runtime picks one. */
  cgroupParent: string;
  clusterDomain: string;
  kubeletId: string;
  namespaces: NamespaceOption;
  enforcement: Enforcement;
};

/**
 * Builds the sandbox configuration for RunPodSandbox, which is also passed to each CreateContainer call. Throws `invalid_argument` if the
 * pod's fully qualified hostname is too long.
 */
export function podSandboxConfig(input: SandboxConfigInput): PodSandboxConfig {
  const { pod, attempt } = input;
  const { name, namespace, uid } = pod.metadata;
  return create(PodSandboxConfigSchema, {
    metadata: { name, namespace, uid, attempt },
    hostname: pod.spec.hostNetwork ? '' : podHostname(pod, input.clusterDomain),
    logDirectory: podLogDirectory(input.podLogsDir, pod.metadata),
    dnsConfig: input.dns,
    portMappings: portMappings(pod),
    labels: sandboxLabels(pod, input.kubeletId),
    annotations: sandboxAnnotations(pod),
    linux: linuxConfig(input),
  });
}

/** Returns the pod's log directory, `<podLogsDir>/<namespace>_<name>_<uid>`. */
export function podLogDirectory(podLogsDir: string, { namespace, name, uid }: PodIdentity): string {
  return join(podLogsDir, `${namespace}_${name}_${uid}`);
}

function portMappings(pod: Pod) {
  return allContainers(pod.spec)
    .filter((container) => pod.spec.containers.includes(container) || isSidecar(container))
    .flatMap(({ ports }) => ports ?? [])
    .map(({ protocol, containerPort, hostPort, hostIP }) =>
      create(PortMappingSchema, {
        protocol: Protocol[protocol ?? 'TCP'],
        containerPort,
        hostPort: hostPort ?? 0,
        hostIp: hostIP ?? '',
      }),
    );
}

function linuxConfig({ pod, cgroupParent, namespaces, enforcement }: SandboxConfigInput): LinuxPodSandboxConfig {
  const shared = pod.spec.securityContext ?? {};
  const int64 = (value: number | undefined) =>
    value === undefined ? undefined : create(Int64ValueSchema, { value: BigInt(value) });
  return create(LinuxPodSandboxConfigSchema, {
    cgroupParent,
    sysctls: Object.fromEntries((shared.sysctls ?? []).map(({ name, value }) => [dottedSysctl(name), value])),
    securityContext: create(LinuxSandboxSecurityContextSchema, {
      privileged: allContainers(pod.spec).some(({ securityContext }) => securityContext?.privileged === true),
      // RuntimeDefault, because the container runtime's default seccomp profile suffices for the pause process
      seccomp: create(SecurityProfileSchema, { profileType: SecurityProfile_ProfileType.RuntimeDefault }),
      namespaceOptions: namespaces,
      selinuxOptions: selinux(shared.seLinuxOptions),
      runAsUser: int64(shared.runAsUser),
      // without a user, omit the group: container runtimes reject it, and the pause process needs neither
      runAsGroup: shared.runAsUser === undefined ? undefined : int64(shared.runAsGroup),
      supplementalGroups: supplementalGroups(shared),
      supplementalGroupsPolicy: groupsPolicy(shared),
    }),
    overhead: podOverhead(pod, enforcement),
    resources: podResources(pod, enforcement),
  });
}
