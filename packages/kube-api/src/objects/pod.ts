import {
  type Container,
  type EphemeralContainer,
  isSidecar,
  type ResourceList,
  type ResourceRequirements,
} from './container.ts';
import type { LocalObjectReference, ObjectMeta } from './object-meta.ts';
import type { PodStatus } from './pod-status.ts';
import type { PodResourceClaim } from './resource-claim.ts';
import type { Affinity, TopologySpreadConstraint } from './scheduling.ts';
import type { PodSecurityContext } from './security-context.ts';
import type { Volume } from './volume.ts';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';
export type DnsPolicy = 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';

export type DnsConfig = { nameservers?: string[]; searches?: string[]; options?: { name: string; value?: string }[] };

export type HostAlias = { ip: string; hostnames?: string[] };

/** Preserved, but has no effect on a standalone node. */
export type Toleration = {
  key?: string;
  operator?: 'Exists' | 'Equal' | 'Lt' | 'Gt';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  tolerationSeconds?: number;
};

/** Desired state of a pod (v1 PodSpec). Defaulting sets the scalar fields that have defaults; unset lists stay `undefined`. */
export type PodSpec = {
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: EphemeralContainer[];
  volumes?: Volume[];
  restartPolicy?: RestartPolicy;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: DnsPolicy;
  dnsConfig?: DnsConfig;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  shareProcessNamespace?: boolean;
  hostname?: string;
  subdomain?: string;
  setHostnameAsFQDN?: boolean;
  /** Overrides the host name that the fields above imply. */
  hostnameOverride?: string;
  hostAliases?: HostAlias[];
  securityContext?: PodSecurityContext;
  imagePullSecrets?: LocalObjectReference[];
  runtimeClassName?: string;
  /** Pod-level resources, which the containers share. */
  resources?: ResourceRequirements;
  overhead?: ResourceList;
  readinessGates?: { conditionType: string }[];
  os?: { name: 'linux' | 'windows' };
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: Affinity;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  schedulingGates?: { name: string }[];
  tolerations?: Toleration[];
  priority?: number;
  priorityClassName?: string;
  preemptionPolicy?: 'PreemptLowerPriority' | 'Never';
  schedulerName?: string;
  resourceClaims?: PodResourceClaim[];
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
};

/** A pod in the API (v1 Pod). Only the node writes `status`. */
export type Pod = {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
};

/** Returns `namespace/name`, for messages to users. Upstream's full name is `name_namespace`. */
export function namespacedName(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`;
}

/** Returns the init containers, then the regular ones. */
export function allContainers(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Returns the containers of every kind; ephemeral ones are last. */
export function everyContainer(spec: PodSpec): Container[] {
  return [...allContainers(spec), ...(spec.ephemeralContainers ?? [])];
}

/** Returns the pod's sidecars, in the order of the pod spec. */
export function sidecarsOf(pod: Pod): Container[] {
  return (pod.spec.initContainers ?? []).filter(isSidecar);
}
