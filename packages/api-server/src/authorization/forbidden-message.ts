import type { AuthorizationAttributes } from './authorizer.ts';
import { quoted } from './go-text.ts';

/** Browsers that show a message as HTML find no markup in it. */
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Why a request is forbidden, as Kubernetes says it in a `Status` behind `pods "web" is forbidden: `, or behind `forbidden: ` for a path.
 * The reason is that of the verdict.
 */
export function forbiddenMessage(attributes: AuthorizationAttributes, reason: string): string {
  const message = refused(attributes).replace(/[&<>]/g, (character) => MARKUP[character]!);
  return reason === '' ? message : `${message}: ${reason}`;
}

function refused({ user, verb, ...request }: AuthorizationAttributes): string {
  const who = `User ${quoted(user.username)} cannot ${verb}`;
  if (!request.isResourceRequest) return `${who} path ${quoted(request.path)}`;
  const { resource, subresource, apiGroup, namespace } = request;
  const what = quoted(subresource === '' ? resource : `${resource}/${subresource}`);
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(namespace)}`;
  return `${who} resource ${what} in API group ${quoted(apiGroup)} ${scope}`;
}
