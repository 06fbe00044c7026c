import { respondToPath } from './path-request.ts';
import { dispatch } from './resource-dispatch.ts';
import type { AuthorizedRequest } from './server-parts.ts';

/** Responds to an authorized request. Throws `ApiError`. */
export function respond(request: AuthorizedRequest): Promise<void> {
  const { exchange, writer, info, parts } = request;
  if (info.isResourceRequest) return dispatch(request);
  return respondToPath({ exchange, writer, info, documents: parts.documents });
}
