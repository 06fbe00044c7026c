import { type Call, type Handler, type Route, readBody, sendJson } from '@podwright/kubelet-server';
import type { NodeBackend } from './node-backend.ts';
import { ephemeralChange, resizeChange, type SentKind, sentKind } from './sent-patch.ts';

/** Serves the pod subresources `ephemeralcontainers` and `resize`, as in the Kubernetes API. */
export function subresourceRoutes(backend: NodeBackend): Route[] {
  const read: Handler = async (call) => sendJson(call.response, backend.get({ kind: 'Pod', ...nameOf(call) }));
  const routes = (subresource: string, change: Handler): Route[] => {
    const path = `/api/v1/namespaces/:namespace/pods/:name/${subresource}`;
    return [
      { method: 'GET', path, handler: read },
      { method: 'PATCH', path, handler: change },
      { method: 'PUT', path, handler: change },
    ];
  };
  const addContainers: Handler = async (call) => {
    const kind = kindOf(call);
    const body = await readBody(call.request);
    sendJson(call.response, await backend.addEphemeralContainers(nameOf(call), ephemeralChange(kind, body)));
  };
  const resize: Handler = async (call) => {
    const kind = kindOf(call);
    const body = await readBody(call.request);
    sendJson(call.response, await backend.resize(nameOf(call), resizeChange(kind, body)));
  };
  return [...routes('ephemeralcontainers', addContainers), ...routes('resize', resize)];
}

function nameOf({ params }: Call): { namespace: string; name: string } {
  return { namespace: params.namespace!, name: params.name! };
}

/** Returns the patch type; a plain JSON body is a complete pod (PUT). */
function kindOf({ request }: Call): SentKind {
  return sentKind(request.headers['content-type'] ?? 'application/json', { 'application/json': 'whole' });
}
