import { counted } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { recentEnd } from '../causes/restarts.ts';
import { type Subject, VIEWED, type ViewReader } from '../view-reader.ts';
import { caused, type Explanation, subjectOf, under, well } from './explanation.ts';
import { type ServiceHealth, type ServiceObject, serviceHealth } from './service-health.ts';
import { whyPod } from './why-pod.ts';
import { ownerOf, whyWorkload } from './why-workload.ts';

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
  const { selected, ready, finding } = serviceHealth(service, pods)!;
  if (finding?.cause === 'no-ready-pods') return await notReady(reader, subject, { selected, finding });
  if (finding !== undefined) return caused(subject, finding);
  const answered = `is answered by ${ready.length} of ${counted(selected.length, 'pod')}`;
  const now = Date.now();
  const restarting = ready.find((pod) => recentEnd(pod, now) !== undefined);
  return restarting === undefined
    ? well(subject, answered)
    : under(subject, answered, await whyPod(reader, restarting, now));
}

/** Explains why the first of a Service's pods is not ready. */
async function notReady(
  reader: ViewReader,
  subject: Subject,
  { selected, finding }: Required<Pick<ServiceHealth, 'selected' | 'finding'>>,
): Promise<Explanation> {
  const [first] = selected;
  const owner = await ownerOf(reader, first!);
  const above = owner && (await whyWorkload(reader, owner.resource, owner.object));
  const below = above === undefined || above.isWell ? await whyPod(reader, first!) : above;
  if (!below.isWell) return under(subject, finding.sentence, below);
  return caused(subject, { ...finding, advice: ['Its pods have completed, and a completed pod is no endpoint.'] });
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
