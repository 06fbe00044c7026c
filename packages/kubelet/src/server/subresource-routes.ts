import { PodwrightError } from '@podwright/base';
import { type Call, type Handler, type Route, readBody, sendJson } from './api-call.ts';
import type { NodeBackend } from './node-backend.ts';
import { type PatchKind, parseEphemeralPatch, parseResizePatch } from './pod-patch.ts';

const PATCH_KINDS: Record<string, PatchKind> = {
  'application/strategic-merge-patch+json': 'merge-by-name',
  'application/merge-patch+json': 'replace',
  'application/json': 'replace', // a whole pod, with PUT
};

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
  const addContainers: Handler = async (call) => {
    const patch = parseEphemeralPatch(await readBody(call.request), patchKind(call));
    sendJson(call.response, await backend.addEphemeralContainers(nameOf(call), patch));
  };
  const resize: Handler = async (call) => {
    patchKind(call); // throws
    sendJson(call.response, await backend.resize(nameOf(call), parseResizePatch(await readBody(call.request))));
  };
  return [...routes('ephemeralcontainers', addContainers), ...routes('resize', resize)];
}

function nameOf({ params }: Call): { namespace: string; name: string } {
  return { namespace: params.namespace!, name: params.name! };
}

function patchKind({ request }: Call): PatchKind {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]!.trim();
  const kind = Object.hasOwn(PATCH_KINDS, type) ? PATCH_KINDS[type] : undefined;
  if (kind !== undefined) return kind;
  const known = Object.keys(PATCH_KINDS).join(', ');
  throw new PodwrightError('invalid_argument', `read the patch: its type "${type.slice(0, 60)}" is none of ${known}`);
}
