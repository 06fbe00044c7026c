/** SubjectAccessReview and its variants: creating one returns what a user may do and stores nothing. */

import { badRequest, invalid } from '@podwright/api-machinery';
import {
  type ApiObject,
  type FieldError,
  invalidValue,
  isSameValue,
  objectAt,
  textAt,
  textsAt,
  type UserInfo,
  valueAt,
} from '@podwright/kube-kinds';
import type { AuthorizationAttributes, Authorizer, RuleResolver } from './authorizer.ts';
import { fieldSelectorOf, selectorErrors } from './review-selectors.ts';
import { rulesReviewStatus } from './rules-review.ts';

export type AccessReviewKind = 'SubjectAccessReview' | 'LocalSubjectAccessReview' | 'SelfSubjectAccessReview';

export type AccessReviewCall = {
  kind: AccessReviewKind;
  object: ApiObject;
  /** The user who makes the review request. */
  user: UserInfo;
  /** Namespace from the URL; '' except for LocalSubjectAccessReview. */
  namespace: string;
};

const GROUP = 'authorization.k8s.io';

/** Responds to an access review, which asks whether a request would be allowed. Throws an Invalid error if the review is invalid. */
export function reviewAccess(authorizer: Authorizer, call: AccessReviewCall): ApiObject {
  const { kind, object, user, namespace } = call;
  const errors = errorsOf(call);
  if (errors.length > 0) throw invalid({ group: GROUP, kind: '' }, '', errors); // upstream has no kind there
  if (kind === 'LocalSubjectAccessReview' && namespace !== (object.metadata.namespace ?? ''))
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  const reviewed = kind === 'SelfSubjectAccessReview' ? user : userOf(object.spec);
  const { decision, reason } = authorizer.authorize(attributesOf(object.spec, reviewed));
  const evaluationError = selectorErrors(object.spec);
  return {
    ...object,
    status: {
      allowed: decision === 'allow',
      ...(decision === 'deny' ? { denied: true } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(evaluationError === '' ? {} : { evaluationError }),
    },
  };
}

/** Responds to a SelfSubjectRulesReview. */
export function reviewRules(resolver: RuleResolver, { apiVersion, kind, spec }: ApiObject, user: UserInfo): ApiObject {
  const namespace = textAt(spec, 'namespace');
  if (namespace === '') throw badRequest('no namespace on request');
  return { apiVersion, kind, metadata: {}, spec: {}, status: rulesReviewStatus(resolver, user, namespace) };
}

function errorsOf({ kind, object }: AccessReviewCall): FieldError[] {
  const { spec } = object;
  const [resource, path] = [valueAt(spec, 'resourceAttributes'), valueAt(spec, 'nonResourceAttributes')];
  const errors: FieldError[] = [];
  if (resource !== undefined && path !== undefined)
    errors.push(
      invalidValue('spec.nonResourceAttributes', path, 'cannot be specified in combination with resourceAttributes'),
    );
  if (resource === undefined && path === undefined)
    errors.push(
      invalidValue(
        'spec.resourceAttributes',
        undefined,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    );
  const isSelf = kind === 'SelfSubjectAccessReview';
  if (!isSelf && textAt(spec, 'user') === '' && textsAt(spec, 'groups').length === 0)
    errors.push(invalidValue('spec.user', '', 'at least one of user or group must be specified'));
  return [
    ...errors,
    ...metadataErrors(kind, object),
    ...(kind === 'LocalSubjectAccessReview' ? localErrors(object) : []),
  ];
}

function metadataErrors(kind: AccessReviewKind, { metadata }: ApiObject): FieldError[] {
  const isLocal = kind === 'LocalSubjectAccessReview';
  const { managedFields: _, namespace, ...others } = metadata;
  const checked = isLocal || !namespace ? others : { namespace, ...others };
  if (isSameValue(checked, {})) return [];
  return [invalidValue('metadata', metadata, isLocal ? 'must be empty except for namespace' : 'must be empty')];
}

function localErrors({ metadata, spec }: ApiObject): FieldError[] {
  const { namespace = '' } = metadata;
  const attributes = objectAt(spec, 'resourceAttributes');
  const requested = textAt(attributes, 'namespace');
  const path = valueAt(spec, 'nonResourceAttributes');
  return [
    ...(attributes === undefined || requested === namespace
      ? []
      : [invalidValue('spec.resourceAttributes.namespace', requested, 'must match metadata.namespace')]),
    ...(path === undefined
      ? []
      : [invalidValue('spec.nonResourceAttributes', path, 'disallowed on this kind of request')]),
  ];
}

function userOf(spec: unknown): UserInfo {
  const extra = Object.keys(objectAt(spec, 'extra') ?? {}).map((key) => [key, textsAt(spec, 'extra', key)] as const);
  const uid = textAt(spec, 'uid');
  return {
    username: textAt(spec, 'user'),
    groups: textsAt(spec, 'groups'),
    ...(uid === '' ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

function attributesOf(spec: unknown, user: UserInfo): AuthorizationAttributes {
  const isResourceRequest = valueAt(spec, 'resourceAttributes') !== undefined;
  const attributes = valueAt(spec, isResourceRequest ? 'resourceAttributes' : 'nonResourceAttributes');
  const text = (field: string) => textAt(attributes, field);
  return {
    user,
    verb: text('verb'),
    isResourceRequest,
    apiGroup: text('group'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    path: text('path'),
    fieldSelector: fieldSelectorOf(attributes),
  };
}
