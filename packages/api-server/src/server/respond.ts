import { respondToPath } from './path-request.ts';
import { dispatch } from './resource-dispatch.ts';
import type { AuthorizedRequest } from './server-parts.ts';

/** Responds to an authorized request. Throws `ApiError`. */
export function respond(request: AuthorizedRequest): Promise<void> {
  const { exchange, writer, info, parts } = request;
  // in-process requests are never forwarded to extension API servers
  const forward = exchange.value === undefined ? parts.extensions?.handlerOf(info) : undefined;
  if (forward !== undefined) return forward(request);
  if (info.isResourceRequest) return dispatch(request);
  return respondToPath({ exchange, writer, info, documents: parts.documents });
}
