/** Descriptions of pods and their scheduling. */
export const PODS = `
core.Pod: One or more containers that run together on a node, with one network address and shared volumes.
core.PodTemplate: A description of pods, from which other programs make pods.
  template: The pods to make.
core.PodTemplateSpec: A description of the pods that a controller creates.
  metadata: Labels and annotations of the pods.
  spec: What the pods run.
core.PodSpec: What a pod runs, and how.
  volumes: Volumes that the containers can mount.
  initContainers: Containers that run one after another before the others. With restartPolicy Always, one keeps running.
  containers: The containers of the pod. There must be at least one.
  ephemeralContainers: Containers that were added to the running pod for debugging.
  restartPolicy: When containers that ended are started again: Always, OnFailure or Never.
  terminationGracePeriodSeconds: The time in seconds between the signal to end and the kill. Default 30.
  activeDeadlineSeconds: The time in seconds after which the pod is stopped and has failed.
  dnsPolicy: Where names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default (as the node) or None.
  dnsConfig: Name servers, search domains and options that are added to those of dnsPolicy.
  nodeSelector: Labels that a node must have for this pod.
  serviceAccountName: The ServiceAccount whose rights the pod has in the API.
  serviceAccount: Deprecated: use serviceAccountName.
  automountServiceAccountToken: Whether containers get a token of the ServiceAccount.
  nodeName: The node that runs the pod. As a rule the scheduler sets it.
  hostNetwork: Whether the pod uses the network of the node instead of its own.
  hostPID: Whether the containers see the processes of the node.
  hostIPC: Whether the containers share the IPC namespace of the node.
  hostUsers: Whether the containers use the user ids of the node. If false, the pod has a user namespace.
  shareProcessNamespace: Whether the containers of the pod see each other's processes.
  securityContext: Users, groups and other security settings for all containers and volumes.
  imagePullSecrets: Secrets with credentials for image registries.
  hostname: The host name in the pod. Default: the name of the pod.
  subdomain: The domain of the host name, which is the name of a headless Service.
  hostnameOverride: The host name in the pod, whatever hostname and subdomain say.
  setHostnameAsFQDN: Whether the host name in the pod includes its domain.
  affinity: Rules for the choice of the node, by its labels or by the pods on it.
  schedulerName: The scheduler that chooses the node.
  tolerations: Taints of nodes that the pod accepts.
  hostAliases: Further lines of /etc/hosts.
  priorityClassName: The PriorityClass of the pod.
  priority: The priority, which the server takes from the PriorityClass. Higher is more important.
  preemptionPolicy: Whether the pod may evict pods of lower priority: PreemptLowerPriority or Never.
  readinessGates: Further conditions that must be True for the pod to be ready.
  runtimeClassName: The RuntimeClass, which chooses how the node runs the containers.
  enableServiceLinks: Whether containers get environment variables for the Services of the namespace. Default true.
  overhead: Resources that the pod needs besides those of its containers, by its RuntimeClass.
  topologySpreadConstraints: How the pods of a group are spread over nodes or zones.
  os: The operating system of the node that the pod needs.
  schedulingGates: The pod is not scheduled while this list has an entry.
  resourceClaims: ResourceClaims with devices that the containers use.
  resources: Requests and limits of the pod as a whole.
  schedulingGroup: The PodGroup with which the pod is scheduled.
core.PodStatus: The observed state of a pod.
  phase: Pending, Running, Succeeded, Failed or Unknown.
  hostIP: The address of the node.
  hostIPs: The addresses of the node.
  podIP: The address of the pod.
  podIPs: The addresses of the pod, one for each IP family.
  startTime: When the node accepted the pod.
  containerStatuses: The states of the containers.
  initContainerStatuses: The states of the init containers.
  ephemeralContainerStatuses: The states of the ephemeral containers.
  qosClass: Guaranteed, Burstable or BestEffort: which pods are evicted first if memory is short.
  nominatedNodeName: The node on which room is being made for the pod.
  resize: Deprecated: the state of a change of resources is in the conditions.
  resourceClaimStatuses: The ResourceClaims that were made for the pod.
core.Affinity: Rules for the choice of the node.
  nodeAffinity: By labels of nodes.
  podAffinity: Near other pods.
  podAntiAffinity: Away from other pods.
*Affinity:
  requiredDuringSchedulingIgnoredDuringExecution: Rules that must hold when the pod is scheduled.
  preferredDuringSchedulingIgnoredDuringExecution: Rules that should hold, with weights.
core.PodAffinityTerm: Selects pods, and says what counts as near them.
  labelSelector: Selects the pods.
  namespaces: The namespaces of the pods. Default: that of this pod.
  namespaceSelector: Selects namespaces by labels.
  topologyKey: Nodes with the same value of this label are near each other.
core.Toleration: Taints that a pod accepts.
  key: The key of the taint; empty for any.
  operator: Exists, or Equal for a taint with this value.
  value: The value of the taint.
  effect: NoSchedule, PreferNoSchedule or NoExecute; empty for any.
  tolerationSeconds: How many seconds the pod stays on a node with a NoExecute taint.
core.TopologySpreadConstraint: How evenly pods are spread.
  maxSkew: The greatest difference in the number of pods.
  topologyKey: The label of nodes whose values are the groups.
  whenUnsatisfiable: DoNotSchedule or ScheduleAnyway.
  labelSelector: Selects the pods that are counted.
  minDomains: The least number of groups.
core.PodDNSConfig: Settings of name resolution.
  nameservers: Addresses of name servers.
  searches: Domains in which short names are searched.
  options: Options of the resolver, such as ndots.
core.HostAlias: A line of /etc/hosts.
  ip: The address.
  hostnames: The names.
core.Binding: Assigns a pod to a node.
  target: The node.
policy.Eviction: A request to delete a pod unless a PodDisruptionBudget forbids it.
  deleteOptions: How to delete it.
`;
