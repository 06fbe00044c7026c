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

/** A toleration in a pod spec. Preserved, but without effect on a standalone node. */
export type Toleration = {
  key?: string;
  operator?: 'Exists' | 'Equal' | 'Lt' | 'Gt';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  tolerationSeconds?: number;
};

/** Desired state of a pod (v1 PodSpec). Defaulting sets scalar fields that have defaults; unset lists stay `undefined`. */
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
  /** Overrides the host name derived from `hostname` and `subdomain`. */
  hostnameOverride?: string;
  hostAliases?: HostAlias[];
  securityContext?: PodSecurityContext;
  imagePullSecrets?: LocalObjectReference[];
  runtimeClassName?: string;
  /** Pod-level resources, shared by the containers. */
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

/** A pod in the API (v1 Pod). `status` is written only by the node. */
export type Pod = {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
};

/** Returns `namespace/name`, for user-facing messages. Upstream's full name is `name_namespace`. */
export function namespacedName(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`;
}

/** Returns the init containers followed by the regular ones. */
export function allContainers(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** Returns containers of all types, ephemeral ones last. */
export function everyContainer(spec: PodSpec): Container[] {
  return [...allContainers(spec), ...(spec.ephemeralContainers ?? [])];
}

/** Returns the pod's sidecars, in pod spec order. */
export function sidecarsOf(pod: Pod): Container[] {
  return (pod.spec.initContainers ?? []).filter(isSidecar);
}
