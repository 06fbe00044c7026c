import type { PodResourceClaim } from '../objects/resource-claim.ts';
import type { DnsConfig, HostAlias, Pod, PodSpec, Toleration } from '../objects/types.ts';
import { container, ephemeralContainer, resourceList, resources } from './container-schema.ts';
import {
  anything,
  boolean,
  type Decoder,
  int64,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  oneOfForSchedulers,
  string,
} from './decoder.ts';
import { localObjectReference, objectMeta } from './metadata-schema.ts';
import { affinity, topologySpreadConstraint } from './scheduling-schema.ts';
import { podSecurityContext } from './security-schema.ts';
import { volume } from './volume-schema.ts';

const dnsConfig = object<DnsConfig>({
  nameservers: list(string),
  searches: list(string),
  options: list(object<{ name: string; value?: string }>({ name: string, value: string }, { required: ['name'] })),
});

const hostAlias = object<HostAlias>({ ip: string, hostnames: list(string) }, { required: ['ip'] });

export const toleration = object<Toleration>({
  key: string,
  operator: oneOfForSchedulers('Exists', 'Equal', 'Lt', 'Gt'),
  value: string,
  effect: oneOfForSchedulers('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  tolerationSeconds: int64,
});

const SCHEDULING = 'is not supported yet';

const podSpec = object<PodSpec>(
  {
    containers: list(container),
    initContainers: list(container),
    ephemeralContainers: list(ephemeralContainer),
    volumes: list(volume),
    restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
    terminationGracePeriodSeconds: int64,
    activeDeadlineSeconds: int64,
    dnsPolicy: oneOf('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
    dnsConfig,
    hostNetwork: boolean,
    hostPID: boolean,
    hostIPC: boolean,
    hostUsers: boolean,
    shareProcessNamespace: boolean,
    hostname: string,
    subdomain: string,
    hostnameOverride: string,
    setHostnameAsFQDN: boolean,
    hostAliases: list(hostAlias),
    securityContext: podSecurityContext,
    imagePullSecrets: list(localObjectReference),
    runtimeClassName: string,
    resources,
    overhead: resourceList,
    readinessGates: list(object<{ conditionType: string }>({ conditionType: string }, { required: ['conditionType'] })),
    os: object<{ name: 'linux' | 'windows' }>({ name: oneOf('linux', 'windows') }, { required: ['name'] }),
    nodeName: string,
    nodeSelector: mapOf(string),
    affinity,
    topologySpreadConstraints: list(topologySpreadConstraint),
    schedulingGates: list(object<{ name: string }>({ name: string }, { required: ['name'] })),
    tolerations: list(toleration),
    priority: integer(),
    priorityClassName: string,
    preemptionPolicy: oneOfForSchedulers('PreemptLowerPriority', 'Never'),
    schedulerName: string,
    resourceClaims: list(
      object<PodResourceClaim>(
        { name: string, resourceClaimName: string, resourceClaimTemplateName: string },
        { required: ['name'] },
      ),
    ),
    serviceAccountName: string,
    serviceAccount: string,
    automountServiceAccountToken: boolean,
    enableServiceLinks: boolean,
  },
  {
    required: ['containers'],
    needApi: {
      resourceClaims: 'needs an API server, which manages claims; use limits with a device plugin, or hostPath',
    },
    serverOnly: { schedulingGroup: SCHEDULING, workloadRef: SCHEDULING },
  },
);

/** v1 Pod. `status` is written by the node, and not validated in manifests. */
export const pod: Decoder<Pod> = object<Pod>(
  { apiVersion: oneOf('v1'), kind: oneOf('Pod'), metadata: objectMeta, spec: podSpec, status: anything },
  { required: ['metadata', 'spec'] },
);
