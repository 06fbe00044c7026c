/** Forwards requests to extension API servers (kube-aggregator, apiserver/handler_proxy.go). */
import { textResponse } from '@podwright/api-documents';
import { ApiError, NoEndpoint, pageNotFound } from '@podwright/api-machinery';
import { withTimeout } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { encodedPath, rawQuery } from '../backends/backend-path.ts';
import { forwardRequest } from '../backends/forward-request.ts';
import { forwardUpgrade } from '../backends/forward-upgrade.ts';
import { sendPath } from '../server/path-request.ts';
import type { AuthorizedRequest } from '../server/server-parts.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { type ExtensionParts, extensionBackend } from './extension-backend.ts';
import type { Registration } from './registration.ts';
import { remoteUserHeaders, UnsendableUser } from './remote-user.ts';

export type ExtensionTarget = { registration: Registration; isAvailable: boolean };

/** Timeout for the discovery of a group version, as in upstream. It is short because clients wait for the discovery of all groups. */
const MAX_DISCOVERY_MS = 5000;

const UNAVAILABLE = 'service unavailable';
const LATE = 'error trying to reach service: context deadline exceeded';

/** Forwards an authorized request with its user's name and groups. Errors are plain text, as in upstream. */
export async function proxyRequest(
  request: AuthorizedRequest,
  { registration, isAvailable }: ExtensionTarget,
  parts: ExtensionParts,
): Promise<void> {
  const { writer, info } = request;
  const fail = (status: number, message: string) => sendPath(writer, textResponse(status, `${message}\n`));
  // rejects paths with dot segments: the extension API server might resolve them, and would then serve a different path than the one that
  // was authorized
  if (info.path.split('/').some((segment) => segment === '.' || segment === '..')) throw pageNotFound();
  if (!isAvailable) return fail(503, UNAVAILABLE);
  try {
    await forward(request, await extensionBackend(registration, parts));
  } catch (error) {
    if (error instanceof UnsendableUser) return fail(503, `error trying to reach service: ${error.message}`);
    if (error instanceof NoEndpoint || isOfAddress(error)) return fail(503, UNAVAILABLE);
    if (!(error instanceof Unreached)) throw error;
    return fail(error.status, error.message);
  }
}

/** Thrown if the extension API server could not be reached, or if it responded with a redirect, which is not passed to the client. */
class Unreached extends Error {
  readonly status: number;

  constructor(code: number, message: string) {
    super(message.replace(/^error dialing backend: /, ''));
    this.status = code === 502 ? 502 : 503;
  }
}

/** Whether the request failed because the external name of the Service resolves to an address that requests are not proxied to. */
const isOfAddress = (error: unknown): boolean => error instanceof ApiError && error.status.code === 400;

async function forward({ exchange, info, user }: AuthorizedRequest, backend: Backend): Promise<void> {
  const path = `${encodedPath(info.path)}${rawQuery(exchange.request.url)}`;
  const headers = addedHeaders(exchange, user, backend);
  const isDiscovery = !info.isResourceRequest && info.path.startsWith('/apis/') && exchange.upgrade === undefined;
  using limit = isDiscovery ? withTimeout(exchange.signal, MAX_DISCOVERY_MS, 'wait for discovery') : undefined;
  const signal = limit ?? exchange.signal;
  try {
    if (exchange.upgrade !== undefined) await forwardUpgrade(exchange, { backend, path, headers });
    else await forwardRequest({ ...exchange, signal }, { backend, path, prefix: '', headers, refusesRedirects: true });
  } catch (error) {
    if (!(error instanceof ApiError) || error === exchange.signal.reason) throw error;
    const isLate = limit?.aborted && !exchange.signal.aborted;
    throw new Unreached(error.status.code, isLate ? LATE : error.message);
  }
}

const addedHeaders = ({ auditId }: HttpExchange, user: UserInfo, { authority }: Backend) => ({
  host: authority,
  'x-forwarded-host': authority,
  'x-forwarded-proto': 'https',
  ...(auditId && { 'audit-id': auditId }),
  ...remoteUserHeaders(user),
});
