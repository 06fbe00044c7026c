import type { Pod } from '@podwright/kube-api';
import { NODE_NAME } from '../../../scripts/upstream-kubelet.ts';
import type { Places, SeenEvent } from './kubelets.ts';
import type { RecordedCall } from './recorder.ts';

/** Facts about one pod by source, such as `status`. A fact is a path and its value, or a line. */
export type Observed = Record<string, string[]>;

/** Everything observed while one kubelet ran the manifests. */
export type Run = { pods: Pod[]; events: SeenEvent[]; calls: RecordedCall[]; places: Places; cgroupRoot: string };

/** Calls that are not compared, because they are read-only, or because their number depends on timing. */
const LOOKS = /^(?:List|Status|Version|.*Status$|.*Stats$|ImageFsInfo|RuntimeConfig|UpdateRuntimeConfig|ExecSync)/;

/** Facts that are not compared, because only Podwright's kubelet has them, or because every kubelet generates them differently. */
const OWN = /config\.file|config\.hash|resourceVersion|podwright\.dev|container\.hash/;

export function observe(run: Run): Map<string, Observed> {
  const calls = callsByPod(run.calls);
  const seen = run.pods.map((pod): [string, Observed] => {
    const { name, namespace } = pod.metadata;
    const own = calls.get(name) ?? [];
    const created = own.filter(({ method, about }) => method === 'CreateContainer' && about.endsWith(' 0'));
    const lines = own.map(({ method, about, request, error }) => {
      const timeout = request.timeout === undefined ? '' : ` timeout ${request.timeout}`;
      return `${method} ${about}${timeout}${error === undefined ? '' : ` fails: ${error}`}`;
    });
    const facts = {
      object: leaves({ metadata: pod.metadata, spec: pod.spec }),
      status: leaves(pod.status),
      sandbox: leaves(own.find(({ method }) => method === 'RunPodSandbox')?.request),
      containers: created.flatMap(({ about, request }) => leaves(request.config, about.replace(/ 0$/, ''))),
      calls: lines.filter((line, index) => line !== lines[index - 1]),
      events: eventsOf(`${namespace}/${name}`, run),
    };
    return [withoutNode(name), normalised(facts, name, run)];
  });
  return new Map([...seen, ['the node', normalised({ events: eventsOf(NODE_NAME, run) }, NODE_NAME, run)]]);
}

function eventsOf(about: string, { events }: Run): string[] {
  const own = events.filter(({ object }) => object === about);
  return own.map(({ type, reason, fieldPath, message }) => `${type} ${reason} ${fieldPath} ${message}`);
}

export const withoutNode = (name: string) => name.replace(new RegExp(`-${NODE_NAME}$`), '');

/** Replaces IDs, times, addresses and paths in the facts, and strips the node name that upstream appends to static pod names. */
function normalised(facts: Observed, name: string, { places, cgroupRoot }: Run): Observed {
  const clean = (text: string) =>
    text
      .replaceAll(name, withoutNode(name))
      .replaceAll(places.root, 'ROOT')
      .replaceAll(places.logs, 'LOGS')
      .replaceAll(places.manifests, 'MANIFESTS')
      .replaceAll(places.scratch, 'SCRATCH')
      .replaceAll(cgroupRoot, '')
      .replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{13})\b/g, 'ID')
      .replace(/(\/containers\/[^/"]+)\/[^/"]+"/g, '$1/FILE"')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, 'TIME')
      .replace(/\b10\.\d+\.\d+\.\d+\b/g, 'ADDRESS');
  const all = Object.entries(facts).map(([where, lines]) => {
    const normal = lines.filter((line) => !OWN.test(line)).map(clean);
    return [where, where === 'events' ? [...new Set(normal)] : normal];
  });
  return Object.fromEntries(all);
}

/**
 * A CRI call made for a pod. `about` is `sandbox` or the container name, followed by the attempt number; for PullImage, it is the image.
 */
export type PodCall = RecordedCall & { about: string };
type Metadata = { name: string; attempt?: number };
type Config = { metadata: Metadata };

/** Groups calls by pod. Calls that do not name a pod are matched by the IDs that the runtime returned earlier. */
export function callsByPod(calls: RecordedCall[]): Map<string, PodCall[]> {
  const owners = new Map<unknown, { pod: string; about: string }>();
  const result = new Map<string, PodCall[]>();
  for (const call of calls) {
    const { method, request, response } = call;
    if (LOOKS.test(method)) continue;
    const owner = ownerOf(method, request) ?? owners.get(request.containerId ?? request.podSandboxId);
    if (owner === undefined) continue;
    const id = response?.containerId ?? response?.podSandboxId;
    if (id !== undefined) owners.set(id, owner);
    result.set(owner.pod, [...(result.get(owner.pod) ?? []), { ...call, about: owner.about }]);
  }
  return result;
}

/** Returns the pod named in a request, and what the request is about (see `PodCall`). */
function ownerOf(method: string, request: Record<string, unknown>): { pod: string; about: string } | undefined {
  const sandbox = (method === 'RunPodSandbox' ? request.config : request.sandboxConfig) as Config | undefined;
  if (sandbox === undefined) return undefined;
  const { metadata: pod } = sandbox;
  if (method === 'PullImage') return { pod: pod.name, about: (request.image as { image: string }).image };
  if (method !== 'CreateContainer') return { pod: pod.name, about: `sandbox ${pod.attempt ?? 0}` };
  const { metadata: container } = request.config as Config;
  return { pod: pod.name, about: `${container.name} ${container.attempt ?? 0}` };
}

/** Returns a key that identifies a list element regardless of order. */
const nameOf = (child: { name?: string; type?: string; key?: string; pageSize?: string } | null) =>
  child?.name ?? child?.type ?? child?.key ?? child?.pageSize;

/** Returns `a.b[name].c = value` for every leaf of a JSON value. List elements are identified by `nameOf`, or else by index. */
function leaves(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object')
    return value === undefined ? [] : [`${path} = ${JSON.stringify(value)}`];
  const children = Array.isArray(value)
    ? value.map((child, index) => [`${path}[${nameOf(child) ?? index}]`, child])
    : Object.entries(value).map(([key, child]) => [path === '' ? key : `${path}.${key}`, child]);
  return children.length === 0
    ? [`${path} = ${JSON.stringify(value)}`]
    : children.flatMap(([key, child]) => leaves(child, key));
}
