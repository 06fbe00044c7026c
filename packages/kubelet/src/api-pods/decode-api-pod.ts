/** Reads pods of an API server: it has validated and completed them, and may know more of pods than this kubelet. */
import {
  applyDefaults,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  dnsLabel,
  dnsSubdomain,
  everyContainer,
  formatFieldPath,
  IssueList,
  objectUid,
  type Pod,
  pod as podSchema,
  seenAt,
  UNSUPPORTED,
} from '@podwright/kube-api';
import { shapedStatus } from './shaped-status.ts';

/** Upstream's reason of pods that are refused for what no predicate looks at. */
const REFUSED = 'UnexpectedAdmissionError';

/** `unusable` is an object that is not even known by its names. */
export type DecodedPod =
  | { kind: 'pod'; pod: Pod; refusal?: { reason: string; message: string } }
  | { kind: 'unusable'; why: string };

/**
 * The pod with everything that the API server has of it, known here or not; `managedFields`, which take half of its memory, are left
 * out. A pod that asks for what is not supported, or that is no proper one, comes with the reason of its refusal. Never throws.
 */
export function decodeApiPod(value: unknown, seenAtMs: number): DecodedPod {
  const { metadata, ...rest } = (value ?? {}) as { metadata?: object };
  const { managedFields: _, ...kept } = (metadata ?? {}) as { managedFields?: unknown };
  const issues = IssueList.ofApiServer();
  const decoded = podSchema({ ...rest, apiVersion: 'v1', kind: 'Pod', metadata: kept }, issues);
  const why = identityProblem(decoded.metadata);
  if (why !== undefined) return { kind: 'unusable', why };
  const malformed = issues.issues.some(({ message }) => message !== UNSUPPORTED);
  if (!malformed) checkNames(decoded, issues);
  const pod = { ...decoded, metadata: annotated(decoded.metadata, seenAtMs), status: shapedStatus(decoded.status) };
  const [problem] = issues.issues;
  if (problem === undefined) return { kind: 'pod', pod: applyDefaults(pod) };
  const message = `${formatFieldPath(problem.path)} ${problem.message}`;
  const refusal = { reason: REFUSED, message };
  return { kind: 'pod', pod: malformed ? { ...pod, spec: { containers: [] } } : applyDefaults(pod), refusal };
}

/** Names become paths and labels. */
function identityProblem({ namespace, name, uid }: Partial<Pod['metadata']>): string | undefined {
  const issues = new IssueList(['metadata']);
  const check = (rule: typeof dnsLabel, text: unknown, field: string) =>
    rule(typeof text === 'string' ? text : '', issues.at(field));
  check(dnsLabel, namespace, 'namespace');
  check(dnsSubdomain, name, 'name');
  check(objectUid, uid, 'uid');
  const [problem] = issues.issues;
  return problem && `${formatFieldPath(problem.path)} ${problem.message}`;
}

function checkNames({ spec }: Pod, issues: IssueList): void {
  for (const { name } of everyContainer(spec)) dnsLabel(name, issues.at('spec', 'containers', 'name'));
  for (const { name } of spec.volumes ?? []) dnsLabel(name, issues.at('spec', 'volumes', 'name'));
}

/** As upstream marks pods by their source in memory, and sandboxes at the runtime. */
function annotated(metadata: Pod['metadata'], seenAtMs: number): Pod['metadata'] {
  const own = { [CONFIG_SOURCE_ANNOTATION]: 'api', [CONFIG_SEEN_ANNOTATION]: seenAt(seenAtMs) };
  return { ...metadata, annotations: { ...metadata.annotations, ...own } };
}
