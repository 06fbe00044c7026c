/**
 * Descriptions of object metadata, of the common fields of conditions and lists, and of fields that mean the same in all types. `*` matches
 * any name prefix.
 */
export const SHARED_FIELDS = `
meta.ObjectMeta: The data that all objects have: name, labels, owners and so on.
  name: The name, unique among the objects of the kind in the namespace. It cannot be changed.
  generateName: The beginning of a name to which the server adds five random characters; used if name is empty.
  namespace: The namespace of the object. Empty for kinds that are not in namespaces.
  selfLink: Not used any more.
  uid: An identifier that the server makes; no other object ever has it.
  resourceVersion: The version of the object. An update with an old version is rejected.
  generation: A number that grows with each change of the spec.
  creationTimestamp: When the server created the object.
  deletionTimestamp: When the object will be deleted, or since when it waits for its finalizers.
  deletionGracePeriodSeconds: The time in seconds that the object has to end, from the request to delete it.
  labels: Keys and values by which objects are selected.
  annotations: Keys and values for programs and people, which no selector uses.
  ownerReferences: The objects on which this one depends. It is deleted when all of them are.
  finalizers: Names of cleanups. The object is deleted when the list is empty.
  managedFields: Which program or user set which fields, for server-side apply.
meta.OwnerReference: An object on which another one in the same namespace depends.
  apiVersion: The group and version of the owner.
  kind: The kind of the owner.
  uid: The identifier of the owner.
  controller: Whether this owner manages the object. At most one owner does.
  blockOwnerDeletion: Whether an owner that is deleted in the foreground waits for this object.
meta.ManagedFieldsEntry: The fields of an object that one program or user set in one way.
  manager: The name of the program or user.
  operation: How it set the fields: Apply or Update.
  time: When it last changed any of the fields.
  fieldsType: The form of the fields: FieldsV1.
  fieldsV1: The fields.
  subresource: The subresource by which the fields were set, such as status.
meta.ListMeta: The data that all lists have.
  resourceVersion: The version of the list. A watch can begin after it.
  continue: The token for the next part of the list; empty at its end.
  remainingItemCount: How many objects follow this part of the list.
meta.LabelSelector: Selects objects by their labels. All requirements must hold; an empty selector selects all objects.
  matchLabels: Labels that the object must have with exactly these values.
  matchExpressions: Further requirements.
meta.LabelSelectorRequirement: A requirement for one label.
  key: The label.
  operator: In, NotIn, Exists or DoesNotExist.
  values: The values for In and NotIn.
meta.DeleteOptions: How to delete an object.
  gracePeriodSeconds: The time in seconds that the object has to end; 0 deletes it at once.
  preconditions: What must be true of the object, or else it is not deleted.
  orphanDependents: Deprecated: use propagationPolicy.
  propagationPolicy: What happens to dependents: Orphan, Background or Foreground.
  dryRun: All: check the request, but delete nothing.
meta.Preconditions: What must be true of an object before it is deleted.
  uid: The identifier that it must have.
  resourceVersion: The version that it must have.
meta.Status: The result of a request that has no object to respond with.
  status: Success or Failure.
  message: What happened, for people.
  reason: What happened, as one word for programs.
  details: More about the reason.
  code: The HTTP status code.
meta.StatusDetails: More about the reason of a status.
  causes: The single errors.
  retryAfterSeconds: The time in seconds after which the client may try again.
meta.StatusCause: One error of a request.
  field: The path of the field that the error is about.
meta.Condition: One aspect of the state of an object.
*Condition: One aspect of the state of an object.
  type: The name of the condition.
  status: Whether it holds: True, False or Unknown.
  observedGeneration: The generation of the object that the condition is about.
  lastTransitionTime: When the status last changed.
  lastProbeTime: When the condition was last checked.
  lastHeartbeatTime: When the condition was last reported.
  lastUpdateTime: When the condition was last reported.
  reason: The reason of the last change, as one word for programs.
  message: The reason of the last change, for people.
*List:
  items: The objects.
*:
  apiVersion: The group and version of the object's kind.
  kind: The kind of the object.
  metadata: Name, labels, annotations and other data that all objects have.
  spec: What is requested.
  status: What was observed. Controllers write it.
  conditions: Aspects of the state, each of another type.
  observedGeneration: The generation of the object that the status is about.
  fsType: The type of the file system, such as ext4.
  readOnly: Whether the volume is mounted for reading only.
  secretRef: The Secret with the credentials.
  optional: Whether it may be missing.
  apiGroup: The API group of the kind.
  resourceVersion: The version of the object.
  uid: The identifier of the object.
  fieldPath: The path of a field in the object.
  message: More about the state, for people.
  reason: The reason of the state, as one word for programs.
  caBundle: The certificates, in PEM form, that sign the certificate of the server.
`;
