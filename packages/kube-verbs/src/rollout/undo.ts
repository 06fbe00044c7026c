import { isDeepStrictEqual } from 'node:util';
import type { ApiPort } from '../api-port.ts';
import { kindText, patchTarget, refused, type Target } from '../target.ts';
import { type PodTemplate, REVISION, type Workload } from '../workload.ts';
import { type Revision, readRevisions, TEMPLATE_HASH } from './revisions.ts';

/** Annotations that a Deployment retains when it is rolled back. */
const OWN_ANNOTATIONS = new Set([
  ...['kubectl.kubernetes.io/last-applied-configuration', REVISION, 'deployment.kubernetes.io/revision-history'],
  ...['deployment.kubernetes.io/desired-replicas', 'deployment.kubernetes.io/max-replicas'],
  'deprecated.deployment.rollback.to',
]);

/**
 * Rolls back to an earlier revision; 0 means the previous one. Returns the result in kubectl's wording. Throws `failed_precondition` if
 * there is no such revision, or if a Deployment is paused.
 */
export async function undoRollout(api: ApiPort, target: Target, revision = 0): Promise<string> {
  const { kind } = target;
  if (kind.group !== 'apps' || !['Deployment', 'DaemonSet', 'StatefulSet'].includes(kind.kind))
    throw refused(`no rollbacker has been implemented for "${kindText(target)}"`);
  const workload = target.object as Workload;
  if (workload.spec.paused)
    throw refused(
      "you cannot rollback a paused deployment; resume it first with 'podwright rollout resume' and try again",
    );
  const wanted = chooseRevision(await readRevisions(api, target), revision);
  if (isCurrent(workload, wanted))
    return `skipped rollback (current template already matches revision ${revision || wanted.number})`;
  if (wanted.patch !== undefined) await patchTarget(api, target, { type: 'strategic-merge', body: wanted.patch });
  else await patchTarget(api, target, { type: 'json', body: deploymentPatch(workload, wanted) });
  return 'rolled back';
}

/** Returns the requested revision, or the one before the newest if `wanted` is 0. */
function chooseRevision(revisions: readonly Revision[], wanted: number): Revision {
  const found = wanted === 0 ? revisions.at(-2) : revisions.find(({ number }) => number === wanted);
  if (found !== undefined) return found;
  throw refused(wanted === 0 ? 'no rollout history found' : `unable to find specified revision ${wanted} in history`);
}

const isCurrent = ({ spec }: Workload, { template }: Revision): boolean =>
  isDeepStrictEqual(plain(spec.template), plain(template));

/** Returns a template as it was in the workload: without the `pod-template-hash` label of a ReplicaSet, and without `$patch`. */
function plain(template: PodTemplate | undefined): object {
  const { $patch: _mark, ...rest } = { $patch: undefined, ...template };
  const { [TEMPLATE_HASH]: _hash, ...labels } = rest.metadata?.labels ?? {};
  const { creationTimestamp: _none, ...metadata } = rest.metadata ?? {};
  return { ...rest, metadata: { ...metadata, labels } };
}

/** Returns the JSON patch that sets a Deployment's template and annotations to those of a revision. */
function deploymentPatch({ metadata }: Workload, { template, annotations }: Revision): object[] {
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => OWN_ANNOTATIONS.has(key));
  const earlier = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  return [
    { op: 'replace', path: '/spec/template', value: plain(template) },
    // `add` also replaces existing annotations; `replace` would fail if there are none
    { op: 'add', path: '/metadata/annotations', value: Object.fromEntries([...own, ...earlier]) },
  ];
}
