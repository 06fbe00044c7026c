import type { ResourceList, ResourceRequirements } from './container.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
export type ConditionStatus = 'True' | 'False' | 'Unknown';
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/**
 * The kubelet sets PodScheduled, PodReadyToStartContainers, Initialized, ContainersReady, Ready and DisruptionTarget. Readiness gates
 * define additional types. Times are RFC 3339.
 */
export type PodCondition = {
  type: string;
  status: ConditionStatus;
  observedGeneration?: number;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type ContainerStateWaiting = { reason?: string; message?: string };
export type ContainerStateRunning = { startedAt: string };
export type ContainerStateTerminated = {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt?: string;
  finishedAt?: string;
  containerID?: string;
};

/** State of a container. At most one field is set; if none is, the container is waiting. */
export type ContainerState = {
  waiting?: ContainerStateWaiting;
  running?: ContainerStateRunning;
  terminated?: ContainerStateTerminated;
};

export type VolumeMountStatus = {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  recursiveReadOnly?: string;
};

export type AllocatedResourceStatus = {
  name: string;
  resources: { resourceID: string; health: 'Healthy' | 'Unhealthy' | 'Unknown'; message?: string }[];
};

/** `containerID` is `<runtime>://<id>`, or '' before the first start. */
export type ContainerStatus = {
  name: string;
  state: ContainerState;
  lastState: ContainerState;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  started?: boolean;
  allocatedResources?: ResourceList;
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMountStatus[];
  user?: { linux?: { uid: number; gid: number; supplementalGroups?: number[] } };
  /** Health of the container's devices, by resource. */
  allocatedResourcesStatus?: AllocatedResourceStatus[];
  /** The signal sent to stop the container, such as `SIGTERM`. */
  stopSignal?: string;
};

/** Observed state of a pod (v1 PodStatus). */
export type PodStatus = {
  observedGeneration?: number;
  phase: PodPhase;
  conditions?: PodCondition[];
  message?: string;
  reason?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  qosClass?: QosClass;
  /** Pod-level resources. */
  resources?: ResourceRequirements;
  allocatedResources?: ResourceList;
};
