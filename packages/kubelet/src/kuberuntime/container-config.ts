import { join } from 'node:path';
import {
  type ContainerConfig,
  ContainerConfigSchema,
  create,
  type Image,
  type LinuxContainerConfig,
  LinuxContainerConfigSchema,
  MountPropagation,
  MountSchema,
  Signal,
} from '@podwright/cri';
import type { Container, Pod } from '../api/types.ts';
import type { ContainerMount, PreparedContainer } from '../container/prepared-container.ts';
import { containerResources, type NodeResources } from './container-resources.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
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
  /** The container whose processes this one is to see. */
  targetId?: string;
  node: NodeResources;
  seccompDefault: boolean;
  seccompRoot: string;
  kubeletId: string;
};

/** What CreateContainer gets. */
export function containerConfig(input: ContainerConfigInput): ContainerConfig {
  const { pod, container, restartCount, image, prepared } = input;
  return create(ContainerConfigSchema, {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: image.id, userSpecifiedImage: container.image },
    command: prepared.command,
    args: prepared.args,
    workingDir: container.workingDir ?? '',
    envs: prepared.environment.map(({ name, value }) => ({ key: name, value: Buffer.from(value) })),
    mounts: prepared.mounts.map(mountMessage),
    labels: containerLabels(pod, container, input.kubeletId),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: linuxConfig(input),
    stopSignal: stopSignal(container),
  });
}

/** Log file of a container's attempt, relative to the pod's log directory. */
export function containerLogPath(containerName: string, restartCount: number): string {
  return join(containerName, `${restartCount}.log`);
}

export function imageUser({ uid, username }: Image): ImageUser {
  return { uid: uid?.value, username };
}

function linuxConfig({ pod, container, image, targetId, ...rest }: ContainerConfigInput): LinuxContainerConfig {
  const { seccompDefault, seccompRoot, node } = rest;
  return create(LinuxContainerConfigSchema, {
    resources: containerResources(pod, container, node),
    securityContext: containerSecurityContext({
      pod,
      container,
      imageUser: imageUser(image),
      seccompDefault,
      seccompRoot,
      targetId,
    }),
  });
}

function mountMessage(mount: ContainerMount) {
  return create(MountSchema, {
    hostPath: mount.hostPath,
    containerPath: mount.containerPath,
    readonly: mount.readonly,
    recursiveReadOnly: mount.recursiveReadOnly,
    propagation: PROPAGATIONS[mount.propagation],
    selinuxRelabel: false,
  });
}

function stopSignal(container: Container): Signal {
  const name = container.lifecycle?.stopSignal;
  return name === undefined ? Signal.RUNTIME_DEFAULT : (Signal[name as keyof typeof Signal] ?? Signal.RUNTIME_DEFAULT);
}
