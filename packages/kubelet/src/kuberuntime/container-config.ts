import { join } from 'node:path';
import {
  type ContainerConfig,
  ContainerConfigSchema,
  create,
  type Image,
  ImageSpecSchema,
  type LinuxContainerConfig,
  LinuxContainerConfigSchema,
  MountPropagation,
  MountSchema,
  type NamespaceOption,
  Signal,
} from '@podwright/cri';
import type { Container, Pod } from '@podwright/kube-api';
import type { ContainerMount, PreparedContainer } from '../container/prepared-container.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { containerResources } from './container-resources.ts';
import { containerAnnotations, containerLabels, isOwnAnnotation } from './labels.ts';
import { containerNamespaces } from './namespace-options.ts';
import { containerSecurityContext, type ImageUser } from './security-context.ts';

const PROPAGATIONS: Record<ContainerMount['propagation'], MountPropagation> = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

export type ContainerConfigInput = {
  pod: Pod;
  container: Container;
  restartCount: number;
  image: Image;
  prepared: PreparedContainer;
  /** The namespaces of the sandbox that the container runs in. */
  namespaces: NamespaceOption;
  /** ID of the container whose PID namespace this container joins. */
  targetId?: string;
  node: ContainerEnforcement;
  seccompDefault: boolean;
  netRawDefault: boolean;
  seccompRoot: string;
  kubeletId: string;
};

/** Builds the container configuration for CreateContainer. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, restartCount, image, prepared } = input;
  const { grants } = prepared;
  return create(ContainerConfigSchema, {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: image.id, userSpecifiedImage: container.image },
    command: prepared.command,
    args: prepared.args,
    workingDir: container.workingDir ?? '',
    envs: [...(grants?.environment ?? []), ...prepared.environment].map(({ name, value }) => ({
      key: name,
      value: Buffer.from(value),
    })),
    mounts: [...(grants?.mounts ?? []), ...prepared.mounts].map((mount) => mountMessage(mount, input)),
    devices: [...(grants?.devices ?? []), ...(prepared.devices ?? [])],
    CDIDevices: (grants?.cdiDevices ?? []).map((name) => ({ name })),
    labels: containerLabels(pod, container, input.kubeletId),
    annotations: { ...foreign(grants?.annotations), ...containerAnnotations(pod, container, restartCount) },
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: linuxConfig(input),
    stopSignal: stopSignal(container),
  });
}

/**
 * Drops a device plugin's annotations if only the kubelet may set them, because the kubelet trusts such annotations when it reads them
 * back.
 */
function foreign(annotations: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !isOwnAnnotation(key)));
}

/** Returns the path of a container attempt's log file, relative to the pod's log directory. */
export function containerLogPath(containerName: string, restartCount: number): string {
  return join(containerName, `${restartCount}.log`);
}

export function imageUser({ uid, username }: Image): ImageUser {
  return { uid: uid?.value, username };
}

function linuxConfig(input: ContainerConfigInput): LinuxContainerConfig {
  const { pod, container, image, namespaces, targetId, node, prepared } = input;
  const { cpus = '', memoryNodes = '', hasOwnCpus = false } = prepared.grants ?? {};
  const policy = { ...node.policy, cpuCfsQuota: node.policy.cpuCfsQuota && !hasOwnCpus };
  const resources = containerResources(pod, container, { ...node, policy });
  return create(LinuxContainerConfigSchema, {
    resources: { ...resources, cpusetCpus: cpus, cpusetMems: memoryNodes },
    securityContext: containerSecurityContext({
      ...input,
      imageUser: imageUser(image),
      namespaces: containerNamespaces(namespaces, targetId),
      throttleDirectories: node.host.throttleDirectories,
    }),
  });
}

/**
 * Converts a mount to its CRI message. If the pod has its own user namespace, the mount is ID-mapped, so that file owners map to IDs inside
 * the namespace.
 */
function mountMessage(mount: ContainerMount, { node, namespaces }: ContainerConfigInput) {
  const { image, imageSubPath = '', relabel } = mount;
  return create(MountSchema, {
    ...(image === undefined
      ? { hostPath: mount.hostPath }
      : { image: create(ImageSpecSchema, { ...image }), imageSubPath }),
    containerPath: mount.containerPath,
    readonly: mount.readonly,
    recursiveReadOnly: mount.recursiveReadOnly,
    propagation: PROPAGATIONS[mount.propagation],
    selinuxRelabel: relabel && node.host.selinux,
    uidMappings: namespaces.usernsOptions?.uids ?? [],
    gidMappings: namespaces.usernsOptions?.gids ?? [],
  });
}

/** Converts a stop signal to its CRI name; `SIGRTMIN+1` becomes `SIGRTMINPLUS1`. */
function stopSignal(container: Container): Signal {
  const name = container.lifecycle?.stopSignal?.replace('+', 'PLUS').replace('-', 'MINUS');
  return name === undefined ? Signal.RUNTIME_DEFAULT : (Signal[name as keyof typeof Signal] ?? Signal.RUNTIME_DEFAULT);
}
