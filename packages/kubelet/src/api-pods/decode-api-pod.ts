/** Decodes pods from an API server, which has already validated and defaulted them. They may contain fields unknown to this kubelet. */
import {
  applyDefaults,
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_FILE_ANNOTATION,
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

/** Upstream's reason for rejecting a pod on admission for anything other than a failed predicate. */
const REFUSED = 'UnexpectedAdmissionError';

/** A decoded pod, with a refusal if it must be rejected. `unusable`: the object lacks a valid name, namespace or UID. */
export type DecodedPod =
  | { kind: 'pod'; pod: Pod; refusal?: { reason: string; message: string } }
  | { kind: 'unusable'; why: string };

/**
 * Decodes a pod. Unknown fields are preserved; `managedFields`, which account for half of a pod's size, are dropped. If a pod is invalid or
 * uses unsupported fields, it is returned with a refusal. Never throws.
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

/** Checks the pod's namespace, name and UID, because the kubelet uses them in paths and labels. */
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

/** Adds the config.source and config.seen annotations (like upstream, in memory only), and removes annotations reserved for static pods. */
function annotated(metadata: Pod['metadata'], seenAtMs: number): Pod['metadata'] {
  const own = { [CONFIG_SOURCE_ANNOTATION]: 'api', [CONFIG_SEEN_ANNOTATION]: seenAt(seenAtMs) };
  const { [CONFIG_FILE_ANNOTATION]: _, [CONFIG_CONTENT_ANNOTATION]: __, ...given } = metadata.annotations ?? {};
  return { ...metadata, annotations: { ...given, ...own } };
}
