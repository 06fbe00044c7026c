/** Descriptions of workload controllers. */
export const WORKLOADS = `
apps.Deployment: Keeps a number of equal pods running, and replaces them step by step when their template changes.
apps.DeploymentSpec: The pods of a Deployment and how they are replaced.
  replicas: The number of pods. Default 1.
  strategy: How old pods are replaced by new ones.
  revisionHistoryLimit: How many old ReplicaSets remain, for a rollback. Default 10.
  paused: Whether changes of the template have no effect for now.
  progressDeadlineSeconds: The time in seconds without progress after which an update has failed. Default 600.
apps.DeploymentStrategy: How old pods are replaced by new ones.
  type: RollingUpdate, or Recreate (delete all, then create).
  rollingUpdate: Settings of a rolling update.
apps.RollingUpdateDeployment: Settings of a rolling update.
  maxSurge: How many pods more than replicas there may be: a number or a percentage. Default 25%.
  maxUnavailable: How many pods fewer than replicas may be available: a number or a percentage. Default 25%.
apps.ReplicaSet: Keeps a number of equal pods running. Deployments create ReplicaSets.
apps.ReplicaSetSpec: The pods of a ReplicaSet.
  replicas: The number of pods. Default 1.
core.ReplicationController: The predecessor of ReplicaSet.
core.ReplicationControllerSpec: The pods of a ReplicationController.
  replicas: The number of pods. Default 1.
  selector: Labels that the pods must have.
apps.StatefulSet: Keeps numbered pods running, each with its own name and storage.
apps.StatefulSetSpec: The pods of a StatefulSet and their storage.
  replicas: The number of pods. Default 1.
  serviceName: The headless Service that gives the pods their DNS names.
  volumeClaimTemplates: PersistentVolumeClaims to create for each pod. They remain when the pod is deleted.
  podManagementPolicy: OrderedReady (one pod after another) or Parallel.
  updateStrategy: How pods are replaced when the template changes.
  revisionHistoryLimit: How many old templates remain, for a rollback. Default 10.
  persistentVolumeClaimRetentionPolicy: When the claims are deleted.
  ordinals: The number of the first pod.
apps.StatefulSetUpdateStrategy: How the pods of a StatefulSet are replaced.
  type: RollingUpdate, or OnDelete (when a pod is deleted by hand).
  rollingUpdate: Settings of a rolling update.
apps.RollingUpdateStatefulSetStrategy: Settings of a rolling update.
  partition: Only pods with this number or a higher one are replaced.
  maxUnavailable: How many pods are replaced at the same time.
apps.StatefulSetPersistentVolumeClaimRetentionPolicy: When the claims of a StatefulSet are deleted.
  whenDeleted: With the StatefulSet: Retain or Delete.
  whenScaled: When there are fewer pods: Retain or Delete.
apps.DaemonSet: Runs one pod on each node, or on each of some nodes.
apps.DaemonSetSpec: The pods of a DaemonSet.
  updateStrategy: How pods are replaced when the template changes.
  revisionHistoryLimit: How many old templates remain, for a rollback. Default 10.
apps.DaemonSetUpdateStrategy: How the pods of a DaemonSet are replaced.
  type: RollingUpdate, or OnDelete (when a pod is deleted by hand).
  rollingUpdate: Settings of a rolling update.
apps.RollingUpdateDaemonSet: Settings of a rolling update.
  maxSurge: On how many nodes an old and a new pod may run at the same time.
  maxUnavailable: On how many nodes no pod may be available. Default 1.
apps.DaemonSetStatus: The observed state of a DaemonSet.
  desiredNumberScheduled: The number of nodes that should run a pod.
  currentNumberScheduled: The number of these nodes that have a pod.
  updatedNumberScheduled: The number of nodes with a pod of the newest template.
  numberReady: The number of nodes with a ready pod.
  numberAvailable: The number of nodes whose pod has been ready for minReadySeconds.
  numberUnavailable: The number of nodes without such a pod.
  numberMisscheduled: The number of nodes that have a pod but should not.
apps.ControllerRevision: One version of the template of a StatefulSet or DaemonSet.
  data: The template.
  revision: The number of the version.
*Spec:
  selector: Selects the pods by their labels.
  template: The pods to create.
  minReadySeconds: How many seconds a pod must be ready before it counts as available. Default 0.
*Status:
  replicas: The number of pods.
  readyReplicas: The number of ready pods.
  availableReplicas: The number of pods that have been ready for minReadySeconds.
  unavailableReplicas: How many available pods are missing.
  updatedReplicas: The number of pods of the newest template.
  currentReplicas: The number of pods of the old template.
  terminatingReplicas: The number of pods that are being deleted.
  fullyLabeledReplicas: The number of pods with all labels of the template.
  collisionCount: How often the name of a new object was taken.
  currentRevision: The ControllerRevision of the old template.
  updateRevision: The ControllerRevision of the newest template.
`;
