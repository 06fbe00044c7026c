import { isRecord, PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import { MAX_SPANS } from '../limits.ts';
import type { ApiServer } from '../upstream/api-server.ts';
import type { JsonCalls } from '../upstream/json-calls.ts';
import { findNode } from './describe-session.ts';

const NODES = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
/** Matches an object's name or UID. It has no slash and does not start with a dot, so it is a single path segment. */
const NAME = /^[A-Za-z\d][\w.-]{0,252}$/;

/** A step of a pod's startup. README.md describes the fields. */
type Span = { name: string; startMs: number; endMs: number };

/**
 * Reads the steps of a pod's startups: on a node's socket, directly for the node's own pods; otherwise from the kubelet of the pod's node
 * through the API server, for which the user must be allowed to get `nodes/proxy`. Rejects with `not_found` if the kubelet has no traces,
 * because it is not Podwright's.
 */
export async function readTraces(
  { api, calls }: { api: ApiServer; calls: JsonCalls },
  { node, uid }: { node: string; uid: string },
  signal: AbortSignal,
): Promise<Span[]> {
  if (!NAME.test(uid)) throw new PodwrightError('invalid_argument', 'uid: must be the UID of a pod');
  if (!NAME.test(node)) throw new PodwrightError('invalid_argument', 'node: must be the name of a node');
  const own = `podwright/v1/traces/${uid}`;
  const isOwnNode = api.isNode && node === (await findNode(api, calls, signal));
  const path = isOwnNode ? `/${own}` : pathOf(NODES, { name: node, subresource: `proxy/${own}` });
  return spansOf(await calls.text(path, signal));
}

/**
 * Returns the valid spans in a response. Throws `not_found` if the response is not a list, which means that a different server responded.
 */
function spansOf(text: string): Span[] {
  const absent = () => new PodwrightError('not_found', 'the kubelet has no traces');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw absent();
  }
  if (!Array.isArray(value)) throw absent();
  return value.filter(isSpan).slice(-MAX_SPANS);
}

function isSpan(value: unknown): value is Span {
  if (!isRecord(value)) return false;
  const { name, startMs, endMs, detail = '' } = value;
  return typeof name === 'string' && Number.isFinite(startMs) && Number.isFinite(endMs) && typeof detail === 'string';
}
