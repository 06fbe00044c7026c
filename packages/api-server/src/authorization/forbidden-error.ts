import { type ApiError, forbidden } from '@podwright/api-machinery';
import type { AuthorizationAttributes } from './authorizer.ts';
import { forbiddenMessage } from './forbidden-message.ts';

/** Returns the error for a request that no authorizer allows. `reason`: the verdict's reason. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): ApiError {
  const { isResourceRequest, apiGroup, resource, name } = attributes;
  const cause = forbiddenMessage(attributes, reason);
  return forbidden(isResourceRequest ? { group: apiGroup, plural: resource } : undefined, name, cause);
}
