import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { ContainerHost } from '../node/container-host.ts';

/** Kubelet settings and host facts on which a container's limits depend. */
export type ContainerEnforcement = { policy: ResourcePolicy; host: ContainerHost };
