import type { ResourcePolicy } from '@podwright/kubelet-configuration';
import type { ContainerHost } from '../node/container-host.ts';

/** Kubelet settings and host properties that determine a container's limits. */
export type ContainerEnforcement = { policy: ResourcePolicy; host: ContainerHost };
