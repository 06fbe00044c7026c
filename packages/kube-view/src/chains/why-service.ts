import { counted } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { isPodWell } from '../causes/pod-causes.ts';
import { recentEnd } from '../causes/restarts.ts';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import { caused, type Explanation, subjectOf, under, well } from './explanation.ts';
import { whyPod } from './why-pod.ts';
import { ownerOf, selects, whyWorkload } from './why-workload.ts';

type ServicePort = { name?: string; port: number; targetPort?: number | string };
type ServiceObject = KubeObject & {
  spec?: { type?: string; externalName?: string; selector?: Record<string, string>; ports?: ServicePort[] };
};
/** An EndpointSlice. Upstream's API server sends an empty `endpoints` list as null. */
type Slice = KubeObject & { endpoints?: { conditions?: { ready?: boolean } }[] | null };

const SERVICE_NAME = 'kubernetes.io/service-name';

/** Explains how many pods serve a Service, or why none do. Rejects with the reader's errors. */
export async function whyService(reader: ViewReader, object: KubeObject): Promise<Explanation> {
  const service = object as ServiceObject;
  const subject = subjectOf('Service', service);
  const { spec = {} } = service;
  if (spec.type === 'ExternalName') return well(subject, `is an alias of ${spec.externalName}`);
  if (spec.selector === undefined || Object.keys(spec.selector).length === 0) return await byEndpoints(reader, service);
  const pods = (await reader.list(VIEWED.pods, subject.namespace)) as Pod[];
  const selected = pods.filter((pod) => selects(spec.selector!, pod));
  if (selected.length === 0)
    return caused(subject, {
      cause: 'no-selected-pods',
      sentence: `has no endpoint: no pod has the labels of its selector (${labelText(spec.selector)})`,
      advice: nearest(spec.selector, pods),
    });
  const ready = selected.filter(isPodWell);
  if (ready.length === 0) {
    const sentence = `has no ready endpoint: 0 of ${counted(selected.length, 'pod')} ready`;
    const owner = await ownerOf(reader, selected[0]!);
    const below =
      owner === undefined
        ? await whyPod(reader, selected[0]!)
        : await whyWorkload(reader, owner.resource, owner.object);
    return under(subject, sentence, below.isWell ? await whyPod(reader, selected[0]!) : below);
  }
  const wrong = (spec.ports ?? []).flatMap((port) => wrongPort(port, ready));
  if (wrong.length > 0)
    return caused(subject, {
      cause: 'wrong-target-port',
      sentence: wrong[0]!,
      advice: ["Correct targetPort in the Service, or the container's ports."],
    });
  const answered = `is answered by ${ready.length} of ${counted(selected.length, 'pod')}`;
  const now = Date.now();
  const restarting = ready.find((pod) => recentEnd(pod, now) !== undefined);
  return restarting === undefined
    ? well(subject, answered)
    : under(subject, answered, await whyPod(reader, restarting, now));
}

async function byEndpoints(reader: ViewReader, service: ServiceObject): Promise<Explanation> {
  const subject = subjectOf('Service', service);
  const slices = ((await reader.list(VIEWED.endpointSlices, subject.namespace)) as Slice[]).filter(
    ({ metadata }) => metadata.labels?.[SERVICE_NAME] === subject.name,
  );
  const ready = slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false),
  );
  if (ready.length > 0) return well(subject, `has ${counted(ready.length, 'ready endpoint')}, set by hand`);
  return caused(subject, {
    cause: 'no-endpoints',
    sentence: 'has no selector and no EndpointSlice with a ready endpoint',
    advice: [`Add a selector, or an EndpointSlice with the label ${SERVICE_NAME}: ${subject.name}.`],
  });
}

/** Returns a sentence if no ready pod declares the target port. Pods that declare no ports at all can still listen on a numeric port. */
function wrongPort({ port, targetPort = port }: ServicePort, pods: Pod[]): string[] {
  const declared = pods.flatMap(({ spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].flatMap((container) => container.ports ?? []),
  );
  const has = declared.some(({ name, containerPort }) => name === targetPort || containerPort === targetPort);
  if (has || (typeof targetPort === 'number' && declared.length === 0)) return [];
  const ports = [
    ...new Set(declared.map(({ name, containerPort }) => (name ? `${name} (${containerPort})` : containerPort))),
  ];
  const what = ports.length === 0 ? 'no ports' : `only ${ports.join(', ')}`;
  return [`port ${port} leads to the target port ${targetPort}, and its pods declare ${what}`];
}

const labelText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** Returns advice that names the pod whose labels have the most keys in common with the Service's selector. */
function nearest(selector: Record<string, string>, pods: Pod[]): string[] {
  const keys = Object.keys(selector);
  const shared = ({ metadata: { labels = {} } }: Pod) => keys.filter((key) => labels[key] !== undefined).length;
  const [best] = pods.toSorted((a, b) => shared(b) - shared(a));
  if (best === undefined) return ['The namespace has no pods: create the workload whose pods the Service selects.'];
  if (shared(best) === 0) return ['Correct spec.selector, or the labels in the template of the workload.'];
  const labels = Object.fromEntries(
    keys.flatMap((key) => (best.metadata.labels?.[key] ? [[key, best.metadata.labels[key]]] : [])),
  );
  return [`Correct spec.selector or the labels: pod ${best.metadata.name} has ${labelText(labels)}.`];
}
