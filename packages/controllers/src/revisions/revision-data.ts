/** The data of ControllerRevisions: patches that restore a template (upstream's pkg/controller/history). */
import { isRecord } from '@podwright/base';
import { safeName, stableJson } from '../framework/stable-hash.ts';
import type { ControllerRevision, TemplatePatch } from '../objects/controller-revision.ts';
import type { PodTemplate } from '../pods/pod-template.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Maximum length of a revision's name, excluding the hash appended to it. */
const MAX_PREFIX_LENGTH = 223;

/** Returns the patch that restores a template, with its keys in the order used by upstream. */
export function templatePatch(template: PodTemplate): TemplatePatch {
  return JSON.parse(stableJson({ spec: { template: { ...template, $patch: 'replace' } } })) as TemplatePatch;
}

/** Returns the pod template stored in a revision. */
export function templateOf({ data }: ControllerRevision): PodTemplate | undefined {
  if (data === undefined) return undefined;
  const { $patch: _patch, ...template } = data.spec.template;
  return template;
}

/** Whether the revision has this template. Null fields count as absent, because older servers stored some. */
export function hasTemplate({ data }: ControllerRevision, patch: TemplatePatch): boolean {
  return data !== undefined && stableJson(withoutNull(data)) === stableJson(withoutNull(patch));
}

/** Returns the hash of a patch: FNV-1 of its JSON as written by Go, followed by the collision count (HashControllerRevision). */
export function revisionHash(patch: TemplatePatch, collisionCount: number): string {
  const text = stableJson(patch).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(`${text}${collisionCount}`)) hash = (Math.imul(hash, FNV_PRIME) ^ byte) >>> 0;
  return safeName(hash);
}

export function revisionName(ownerName: string, hash: string): string {
  return `${ownerName.slice(0, MAX_PREFIX_LENGTH)}-${hash}`;
}

/** Sorts revisions by number, then by creation time, then by name. */
export function inOrder(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  const timeOf = ({ metadata }: ControllerRevision) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return revisions.toSorted(
    (a, b) => a.revision - b.revision || timeOf(a) - timeOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1),
  );
}

/** Returns the revisions to delete: the oldest unused ones beyond the limit. `revisions` must be in order. */
export function revisionsBeyond(
  revisions: readonly ControllerRevision[],
  limit: number,
  isInUse: (revision: ControllerRevision) => boolean,
): ControllerRevision[] {
  const unused = revisions.filter((revision) => !isInUse(revision));
  return unused.slice(0, Math.max(0, unused.length - limit));
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (one === null ? [] : [[key, withoutNull(one)] as const])),
  );
}
