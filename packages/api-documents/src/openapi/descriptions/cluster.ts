/** Descriptions of configuration, namespaces, nodes, events and access control. */
export const CLUSTER = `
core.ConfigMap: Configuration that pods read as files or environment variables.
  data: The entries as text.
  binaryData: Entries that are not text, in base64.
  immutable: Whether the entries cannot be changed any more.
core.Secret: Confidential data, such as passwords, that pods read as files or environment variables.
  data: The entries, in base64.
  stringData: Entries as text, which the server writes to data. It is never read.
  type: What the entries are, such as Opaque, kubernetes.io/tls or kubernetes.io/dockerconfigjson.
  immutable: Whether the entries cannot be changed any more.
core.Namespace: A part of the cluster with its own names and rights.
core.NamespaceSpec: What keeps a namespace.
  finalizers: Names of cleanups. The namespace is deleted when the list is empty.
core.NamespaceStatus: The observed state of a namespace.
  phase: Active or Terminating.
core.ServiceAccount: An identity of pods in the API.
  secrets: Secrets that pods with this account may use.
  imagePullSecrets: Secrets with credentials for image registries, for pods that name none.
  automountServiceAccountToken: Whether pods get a token of this account.
core.Node: A machine that runs pods.
core.NodeSpec: Settings of a node.
  unschedulable: Whether no new pods are scheduled to the node (kubectl cordon).
  taints: Pods without matching tolerations are kept away.
  podCIDR: The network of the pods' addresses.
  podCIDRs: The networks of the pods' addresses, one for each IP family.
  providerID: The machine in the cloud.
core.NodeStatus: The observed state of a node.
  capacity: All resources of the node.
  allocatable: The resources that pods can have.
  addresses: Addresses and host names.
  daemonEndpoints: The ports of the kubelet.
  nodeInfo: Versions and identifiers.
  images: Images that the node has.
  volumesInUse: Volumes that pods use.
  volumesAttached: Volumes that are attached.
core.Taint: Keeps pods without a matching toleration away from a node.
  key: The key.
  value: The value.
  effect: NoSchedule, PreferNoSchedule or NoExecute (running pods are evicted, too).
  timeAdded: When it was added.
core.ComponentStatus: The health of a part of the control plane. Deprecated.
core.Event: Something that happened to an object.
  involvedObject: The object.
  reason: What happened, as one word for programs.
  message: What happened, for people.
  source: Who reported it.
  type: Normal or Warning.
  count: How often it happened.
  firstTimestamp: When it happened first.
  lastTimestamp: When it happened last.
  eventTime: When it happened first, in microseconds.
  reportingComponent: Who reported it.
  reportingInstance: Which instance reported it.
events.Event: Something that happened to an object.
  regarding: The object.
  related: A second object, if there is one.
  reason: Why the action was taken, as one word for programs.
  note: What happened, for people.
  action: What was done.
  type: Normal or Warning.
  eventTime: When it happened first.
  series: How often it happened since.
  reportingController: Who reported it.
  reportingInstance: Which instance reported it.
core.ObjectReference: An object of any kind.
  kind: The kind of the object.
  name: The name of the object.
  namespace: The namespace of the object.
  apiVersion: The group and version of the kind.
core.LocalObjectReference: An object in the same namespace.
  name: The name of the object.
core.SecretReference: A Secret in any namespace.
  name: The name of the Secret.
  namespace: The namespace of the Secret.
core.LimitRange: Default and greatest resources of pods, containers and claims in a namespace.
core.LimitRangeSpec: The limits of a namespace.
  limits: One entry for each type.
core.LimitRangeItem: Limits for one type of object.
  type: Pod, Container or PersistentVolumeClaim.
  max: The greatest amounts.
  min: The least amounts.
  default: Limits of containers that have none.
  defaultRequest: Requests of containers that have none.
  maxLimitRequestRatio: How many times its request a limit may be.
core.ResourceQuota: How much the objects of a namespace may use together.
core.ResourceQuotaSpec: The quota of a namespace.
  hard: The greatest amounts, such as requests.cpu or count/pods.
  scopes: Which pods count.
  scopeSelector: Which pods count, by expressions.
core.ResourceQuotaStatus: The use of a quota.
  hard: The greatest amounts.
  used: The amounts that are used.
rbac.Role: Rights in a namespace.
rbac.ClusterRole: Rights in the whole cluster, or in a namespace if a RoleBinding refers to it.
  aggregationRule: Selects ClusterRoles whose rules are added to this one.
*Role:
  rules: The rights.
rbac.PolicyRule: A right: verbs, and what they apply to.
  verbs: What may be done: get, list, watch, create, update, patch, delete, deletecollection and others; * for all.
  apiGroups: Groups of the resources; empty text for the core group, * for all.
  resources: Plural names, such as pods or pods/log; * for all.
  resourceNames: Names of objects. Empty: all.
  nonResourceURLs: Paths, such as /healthz.
rbac.RoleBinding: Gives the rights of a role in a namespace to users, groups or ServiceAccounts.
rbac.ClusterRoleBinding: Gives the rights of a ClusterRole in the whole cluster to users, groups or ServiceAccounts.
*RoleBinding:
  subjects: Who gets the rights.
  roleRef: The role. It cannot be changed.
rbac.RoleRef: A role.
  kind: Role or ClusterRole.
  name: The name of the role.
rbac.Subject: A user, a group or a ServiceAccount.
  kind: User, Group or ServiceAccount.
  name: The name of the user, group or account.
  namespace: The namespace of a ServiceAccount.
authentication.TokenRequest: A request for a token of a ServiceAccount.
authentication.TokenRequestSpec: The requested token.
  audiences: For whom the token is.
  expirationSeconds: The lifetime in seconds.
  boundObjectRef: The token is valid while this object exists.
authentication.TokenRequestStatus: The token.
  token: The token.
  expirationTimestamp: When it expires.
authentication.TokenReview: Asks who the owner of a token is.
authentication.SelfSubjectReview: Asks who the client itself is.
authorization.SubjectAccessReview: Asks whether a user has a right.
authorization.SelfSubjectAccessReview: Asks whether the client itself has a right.
authorization.LocalSubjectAccessReview: Asks whether a user has a right in a namespace.
authorization.SelfSubjectRulesReview: Asks which rights the client itself has in a namespace.
authorization.SubjectAccessReviewStatus: Whether the right exists.
  allowed: Whether the user has the right.
  denied: Whether it is forbidden expressly.
  evaluationError: An error while checking.
certificates.CertificateSigningRequest: A request for a certificate.
certificates.CertificateSigningRequestSpec: The requested certificate.
  request: The request in PEM form.
  signerName: Who should sign it.
  expirationSeconds: The requested lifetime in seconds.
  usages: What the key is used for.
  username: Who sent the request.
certificates.CertificateSigningRequestStatus: The result of a request.
  certificate: The signed certificate in PEM form.
certificates.ClusterTrustBundle: Certificates of certificate authorities for pods.
certificates.PodCertificateRequest: A request for a certificate of a pod.
`;
