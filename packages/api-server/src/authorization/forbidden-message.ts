import { goQuote } from '@podwright/kube-api';
import type { AuthorizationAttributes } from './authorizer.ts';

/** HTML entities for characters that are special in HTML, in case a browser renders the message as HTML. */
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Explains why a request is forbidden, worded as in Kubernetes. In a `Status`, this text follows `pods "web" is forbidden: `, or
 * `forbidden: ` for non-resource paths. `reason`: the verdict's reason.
 */
export function forbiddenMessage(attributes: AuthorizationAttributes, reason: string): string {
  const message = refused(attributes).replace(/[&<>]/g, (character) => MARKUP[character]!);
  return reason === '' ? message : `${message}: ${reason}`;
}

function refused({ user, verb, ...request }: AuthorizationAttributes): string {
  const who = `User ${goQuote(user.username)} cannot ${verb}`;
  if (!request.isResourceRequest) return `${who} path ${goQuote(request.path)}`;
  const { resource, subresource, apiGroup, namespace } = request;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(apiGroup)} ${scope}`;
}
