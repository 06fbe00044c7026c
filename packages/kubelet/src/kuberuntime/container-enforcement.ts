import type { ContainerHost } from '../node/container-host.ts';
import type { ResourcePolicy } from '../node/resource-policy.ts';

/** Kubelet settings and host facts that a container's limits depend on. */
export type ContainerEnforcement = { policy: ResourcePolicy; host: ContainerHost };
