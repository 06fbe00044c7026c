/** A request as seen by expressions and webhooks: the variables and the AdmissionRequest. */
import type { AdmissionAttributes, ObjectStore } from '@podwright/api-machinery';
import { fromJson, type Variables } from '@podwright/cel';
import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { AuthorizerValue, ResourceCheck } from './authorizer-values.ts';
import { kindFor, versionedObject } from './object-versions.ts';
import type { PolicyAuthorizer } from './policy-authorizer.ts';
import { NAMESPACE_VALUES } from './policy-environment.ts';

export type ValueParts = { store: ObjectStore; authorizer: PolicyAuthorizer };

/** Returns the variables for expressions. `resource`: the resource matched by a rule. `param`: the policy's parameter object. */
export function requestVariables(
  attributes: AdmissionAttributes,
  { resource, param }: { resource: Resource; param?: ApiObject | undefined },
  { store, authorizer }: ValueParts,
): Variables {
  const { subresource, namespace, name, user } = attributes;
  const { group: apiGroup, plural } = attributes.resource;
  const who = { authorizer, user };
  const isNamespace = apiGroup === '' && plural === 'namespaces';
  const versioned = (object: ApiObject | undefined) => () =>
    fromJson(object && versionedObject(attributes, resource, object));
  return {
    object: versioned(attributes.object),
    oldObject: versioned(attributes.oldObject),
    request: () => fromJson(admissionRequest(attributes, resource)),
    params: () => fromJson(param),
    namespaceObject: () => {
      const found = isNamespace ? undefined : store.get({ resource: 'namespaces', namespace: '', name: namespace });
      return found === undefined ? null : NAMESPACE_VALUES.read(found.decode());
    },
    authorizer: new AuthorizerValue(who),
    'authorizer.requestResource': new ResourceCheck(who, {
      ...{ apiGroup, resource: plural, subresource, namespace, name },
    }),
  };
}

/** Kinds of the write options by operation, without the suffix `Options`: `Create` stands for `CreateOptions`. */
const OPTIONS: Readonly<Record<string, string>> = { CREATE: 'Create', UPDATE: 'Update', DELETE: 'Delete' };

/** Returns an AdmissionRequest (admission.k8s.io/v1) without its UID and objects. `matched`: the resource matched by a rule. */
export function admissionRequest(attributes: AdmissionAttributes, matched: Resource): Record<string, unknown> {
  const { resource, subresource, name, namespace, operation, user, dryRun, options } = attributes;
  const { username, uid, groups, extra } = user;
  const optionsKind = OPTIONS[operation];
  return {
    kind: kindValue(matched, subresource),
    resource: resourceValue(matched),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindValue(resource, subresource),
    requestResource: resourceValue(resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      username,
      ...(uid ? { uid } : {}),
      ...(groups.length > 0 ? { groups } : {}),
      ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
    },
    dryRun,
    options:
      optionsKind === undefined ? null : { kind: `${optionsKind}Options`, apiVersion: 'meta.k8s.io/v1', ...options },
  };
}

function kindValue(resource: Resource, subresource: string) {
  const { group, version, kind } = kindFor(resource, subresource);
  return { group, version, kind };
}

const resourceValue = ({ group, version, plural }: Resource) => ({ group, version, resource: plural });
