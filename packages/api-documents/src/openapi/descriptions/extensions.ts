/** Descriptions of API extensions, devices and flow control. */
export const EXTENSIONS = `
apiextensions.CustomResourceDefinition: Defines a kind of object besides the built-in ones.
apiextensions.CustomResourceDefinitionSpec: The names, versions and schemas of a kind.
  group: The API group.
  names: The names of the kind and its resource.
  scope: Namespaced or Cluster.
  versions: The versions of the kind.
  conversion: How objects are converted between versions.
apiextensions.CustomResourceDefinitionNames: The names of a kind and its resource.
  plural: The plural name, as in paths.
  singular: The singular name.
  kind: The kind.
  listKind: The kind of lists.
  shortNames: Short names for kubectl.
  categories: Groups of resources for kubectl, such as all.
apiextensions.CustomResourceDefinitionVersion: One version of a kind.
  name: The version, such as v1beta1.
  served: Whether clients can use it.
  storage: Whether objects are stored in it. Exactly one version is.
  schema: The fields.
  subresources: Whether there are status and scale.
  additionalPrinterColumns: Columns of kubectl get.
apiregistration.APIService: A group version that another API server serves.
admissionregistration.ValidatingWebhookConfiguration: Webhooks that can refuse requests.
admissionregistration.MutatingWebhookConfiguration: Webhooks that can change objects before they are stored.
*WebhookConfiguration:
  webhooks: The webhooks.
*Webhook:
  name: The name of the webhook.
  clientConfig: How to call it.
  rules: The requests for which it is called.
  failurePolicy: What to do if the call fails: Fail or Ignore.
  matchPolicy: Whether other versions of the resources match, too: Exact or Equivalent.
  namespaceSelector: Selects the namespaces of the objects.
  objectSelector: Selects the objects by labels.
  sideEffects: Whether calls have effects of their own: None or NoneOnDryRun.
  timeoutSeconds: The time for a call in seconds. Default 10.
  admissionReviewVersions: The versions of AdmissionReview that it accepts.
  matchConditions: CEL expressions that must all be true.
  reinvocationPolicy: Whether it is called again after changes by others: Never or IfNeeded.
admissionregistration.ValidatingAdmissionPolicy: CEL expressions that can refuse requests.
admissionregistration.ValidatingAdmissionPolicyBinding: Applies a ValidatingAdmissionPolicy.
admissionregistration.MutatingAdmissionPolicy: CEL expressions that can change objects before they are stored.
admissionregistration.MutatingAdmissionPolicyBinding: Applies a MutatingAdmissionPolicy.
node.RuntimeClass: A way in which nodes run containers.
  handler: The name of the way in the container runtime.
  overhead: Resources that each pod needs in addition.
  scheduling: Nodes that support it.
resource.DeviceClass: A class of devices that claims can request.
resource.ResourceClaim: A request for devices, such as GPUs.
resource.ResourceClaimTemplate: A description of the ResourceClaims that are created for pods.
resource.ResourceSlice: Devices that a driver has on a node.
resource.DeviceTaintRule: Adds taints to devices, so that pods do not get them.
resource.ResourcePoolStatusRequest: Asks how many devices of a driver are free.
flowcontrol.FlowSchema: Which requests have which priority in the API server.
flowcontrol.PriorityLevelConfiguration: How many requests of a priority are served at the same time.
apiserverinternal.StorageVersion: In which version API servers store a resource.
`;
