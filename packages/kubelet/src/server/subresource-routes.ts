import type { Pod } from '../api/types.ts';
import { type Call, type Handler, type Route, readBody, sendJson } from './api-call.ts';
import type { NodeBackend } from './node-backend.ts';
import { parseEphemeralPatch, parseResizePatch } from './pod-patch.ts';
import { jsonEphemeralPatch, jsonResizePatch, type SentKind, sentKind } from './sent-patch.ts';

/** Parts of a pod that only change through paths of their own, as the Kubernetes API has them. */
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
  const podOf = (call: Call) => backend.get({ kind: 'Pod', ...nameOf(call) }) as Pod;
  const addContainers: Handler = async (call) => {
    const kind = kindOf(call);
    const body = await readBody(call.request);
    const listed = kind === 'strategic' ? 'merge-by-name' : 'replace';
    const patch = kind === 'json' ? jsonEphemeralPatch(body, podOf(call)) : parseEphemeralPatch(body, listed);
    sendJson(call.response, await backend.addEphemeralContainers(nameOf(call), patch));
  };
  const resize: Handler = async (call) => {
    const kind = kindOf(call);
    const body = await readBody(call.request);
    const patch = kind === 'json' ? jsonResizePatch(body, podOf(call)) : parseResizePatch(body);
    sendJson(call.response, await backend.resize(nameOf(call), patch));
  };
  return [...routes('ephemeralcontainers', addContainers), ...routes('resize', resize)];
}

function nameOf({ params }: Call): { namespace: string; name: string } {
  return { namespace: params.namespace!, name: params.name! };
}

/** With PUT a whole pod is sent. */
function kindOf({ request }: Call): SentKind {
  return sentKind(request.headers['content-type'] ?? 'application/json', { 'application/json': 'whole' });
}
