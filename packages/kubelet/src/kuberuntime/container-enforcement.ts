import type { ContainerHost } from '../node/container-host.ts';
import type { ResourcePolicy } from '../node/resource-policy.ts';

/** What a container's limits depend on beside its pod. */
export type ContainerEnforcement = { policy: ResourcePolicy; host: ContainerHost };
