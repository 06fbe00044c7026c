import { forbidden } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { forbiddenMessage } from '../authorization/forbidden-message.ts';
import type { RequestInfo } from './request-info.ts';

const VERBS_WITH_SELECTORS = ['list', 'watch', 'deletecollection'];

/** Returns the authorization attributes of a request. */
export function attributesOf(info: RequestInfo, user: UserInfo, query: URLSearchParams): AuthorizationAttributes {
  const { verb, apiGroup, resource, subresource, namespace, name, path, isResourceRequest } = info;
  const fieldSelector = query.get('fieldSelector') ?? '';
  const isSelected = fieldSelector !== '' && VERBS_WITH_SELECTORS.includes(verb) && !info.hasVerbInPath;
  return {
    user,
    verb,
    isResourceRequest,
    apiGroup,
    resource,
    subresource,
    namespace,
    name,
    path,
    ...(isSelected && { fieldSelector }),
  };
}

/** Throws 403 if the user may not make the request. Returns the authorizer's reason. */
export function authorize(authorizer: Authorizer, attributes: AuthorizationAttributes): string {
  const { decision, reason } = authorizer.authorize(attributes);
  if (decision === 'allow') return reason;
  const { isResourceRequest, apiGroup: group, resource: plural, name } = attributes;
  const message = forbiddenMessage(attributes, reason);
  throw isResourceRequest ? forbidden({ group, plural }, name, message) : forbidden(undefined, '', message);
}
