/** Computes the status of CustomResourceDefinitions (apiextensions-apiserver, controller/status and controller/establish). */
import {
  type ApiObject,
  isSameValue,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from '@podwright/kube-kinds';

const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

type Condition = { type: string; status: 'True' | 'False'; reason: string; message: string };

export const hasCondition = (definition: ApiObject, type: string): boolean =>
  objectsAt(definition, 'status', 'conditions').some(
    (one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True',
  );

/** Returns the definition with this condition set. The condition's transition time changes only if the condition's status does. */
function withCondition(definition: ApiObject, condition: Condition, now: string): ApiObject {
  const conditions = objectsAt(definition, 'status', 'conditions');
  const old = conditions.find((one) => textAt(one, 'type') === condition.type);
  const isSame = old !== undefined && textAt(old, 'status') === condition.status;
  const next = { lastTransitionTime: isSame ? textAt(old, 'lastTransitionTime') : now, ...condition };
  const list =
    old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? { ...one, ...next } : one));
  return { ...definition, status: { ...objectAt(definition, 'status'), conditions: list } };
}

/** Returns the definition with its accepted names and conditions set. `others`: all other definitions. */
export function withAcceptedNames(definition: ApiObject, others: readonly ApiObject[], now: string): ApiObject {
  const names = objectAt(definition, 'spec', 'names') ?? {};
  const accepted = objectAt(definition, 'status', 'acceptedNames') ?? {};
  const { next, conflict } = acceptance(names, accepted, usedNames(definition, others));
  const named = { ...definition, status: { ...objectAt(definition, 'status'), acceptedNames: next } };
  const checked = withCondition(named, conflict ?? ACCEPTED, now);
  const isEstablished = hasCondition(definition, 'Established');
  const established = isEstablished || conflict === undefined ? ESTABLISHED : NOT_ACCEPTED;
  return withApproval(isEstablished ? checked : withCondition(checked, established, now), now);
}

const ACCEPTED: Condition = {
  ...{ type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
};
const ESTABLISHED: Condition = {
  ...{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
  message: 'the initial names have been accepted',
};
const NOT_ACCEPTED: Condition = {
  ...{ type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
};

type Used = { resources: ReadonlySet<string>; kinds: ReadonlySet<string> };

/** Returns the names used by the other definitions of the same API group. */
function usedNames(definition: ApiObject, others: readonly ApiObject[]): Used {
  const group = textAt(definition, 'spec', 'group');
  const names = others
    .filter((one) => textAt(one, 'spec', 'group') === group && one.metadata.uid !== definition.metadata.uid)
    .map((one) => objectAt(one, 'status', 'acceptedNames'));
  const resources = names.flatMap((one) => [
    textAt(one, 'plural'),
    textAt(one, 'singular'),
    ...textsAt(one, 'shortNames'),
  ]);
  return {
    resources: new Set(resources),
    kinds: new Set(names.flatMap((one) => [textAt(one, 'kind'), textAt(one, 'listKind')])),
  };
}

function acceptance(names: JsonObject, accepted: JsonObject, { resources, kinds }: Used) {
  let conflict: Condition | undefined;
  const next: JsonObject = { ...accepted };
  const use = (field: string, used: ReadonlySet<string>) => {
    const name = textAt(names, field);
    if (name !== textAt(accepted, field) && used.has(name)) conflict = conflictOf(field, JSON.stringify(name));
    else if (name !== '') next[field] = name;
  };
  use('plural', resources);
  use('singular', resources);
  const shortNames = textsAt(names, 'shortNames');
  const taken = shortNames.filter((one) => !textsAt(accepted, 'shortNames').includes(one) && resources.has(one));
  if (taken.length > 0) conflict = conflictOf('shortNames', taken.map((one) => JSON.stringify(one)).join(', '));
  else setList(next, 'shortNames', shortNames);
  use('kind', kinds);
  use('listKind', kinds);
  setList(next, 'categories', textsAt(names, 'categories'));
  return { next, conflict };
}

function setList(names: JsonObject, field: string, list: readonly string[]): void {
  if (list.length > 0) names[field] = list;
  else delete names[field];
}

function conflictOf(field: string, names: string): Condition {
  const reason = `${field[0]!.toUpperCase()}${field.slice(1)}Conflict`;
  return { type: 'NamesAccepted', status: 'False', reason, message: `${names} is already in use` };
}

const APPROVAL = 'api-approved.kubernetes.io';
const PROTECTED = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

/** Adds the condition that states whether a definition in one of Kubernetes' own API groups is approved. */
function withApproval(definition: ApiObject, now: string): ApiObject {
  if (!PROTECTED.test(textAt(definition, 'spec', 'group'))) return definition;
  const value = textAt(definition, 'metadata', 'annotations', APPROVAL);
  const isApproved = !value.startsWith('unapproved');
  const condition: Condition = {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: isApproved ? 'True' : 'False',
    reason: isApproved ? 'ApprovedAnnotation' : 'UnapprovedAnnotation',
    message: isApproved ? `approved in ${value}` : `not approved: ${JSON.stringify(value)}`,
  };
  return withCondition(definition, condition, now);
}

/**
 * Adds a finalizer and a condition to a definition when its deletion is first requested, so that it remains until its objects have been
 * deleted.
 */
export function withCleanup(definition: ApiObject, now: string): ApiObject {
  const { finalizers = [] } = definition.metadata;
  const next = finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER];
  const pending: Condition = {
    ...{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' },
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return withCondition({ ...definition, metadata: { ...definition.metadata, finalizers: next } }, pending, now);
}

/** Removes the finalizer added by `withCleanup` once the definition's objects have been deleted. */
export function withoutCleanup(definition: ApiObject): ApiObject {
  const { finalizers = [], ...metadata } = definition.metadata;
  const others = finalizers.filter((one) => one !== CLEANUP_FINALIZER);
  return { ...definition, metadata: { ...metadata, ...(others.length === 0 ? {} : { finalizers: others }) } };
}

/** Whether two definitions have the same status. */
export const hasSameStatus = (one: ApiObject, other: ApiObject): boolean => isSameValue(one.status, other.status);
