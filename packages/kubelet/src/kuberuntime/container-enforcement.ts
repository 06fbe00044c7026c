import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { ContainerHost } from '../node/container-host.ts';

/** Kubelet settings and host facts that a container's limits depend on. */
export type ContainerEnforcement = { policy: ResourcePolicy; host: ContainerHost };
