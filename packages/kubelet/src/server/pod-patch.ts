import { PodwrightError } from '@podwright/base';
import { formatFieldPath, IssueList } from '../api/issue.ts';
import { ephemeralContainer } from '../api/schema/container-schema.ts';
import { list } from '../api/schema/decoder.ts';
import type { EphemeralContainer } from '../api/types.ts';

/** How a list of a patch meets the one that is there: by the names of its elements, or in its place. */
export type PatchKind = 'merge-by-name' | 'replace';

/** What clients send for a pod's ephemeral containers. */
export type EphemeralPatch = { kind: PatchKind; containers: EphemeralContainer[] };

/**
 * Reads `{"spec":{"ephemeralContainers":[…]}}`, or a whole pod with that in it, of which nothing else is looked at. Every other
 * field of a patch is refused: `invalid_argument`.
 */
export function parseEphemeralPatch(text: string, kind: PatchKind): EphemeralPatch {
  const containers = specOf(text).ephemeralContainers ?? [];
  const issues = new IssueList(['spec', 'ephemeralContainers']);
  const decoded = list(ephemeralContainer)(containers, issues);
  if (issues.count > 0) {
    const problems = issues.issues.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
    throw new PodwrightError('invalid_argument', `read the ephemeral containers: ${problems.join('\n')}`);
  }
  return { kind, containers: decoded };
}

/** The containers that a pod has after a patch. */
export function patchedContainers(before: EphemeralContainer[], { kind, containers }: EphemeralPatch) {
  if (kind === 'replace') return containers;
  const named = new Map(before.map((one) => [one.name, one]));
  for (const one of containers) named.set(one.name, { ...named.get(one.name), ...one });
  return [...named.values()];
}

function specOf(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', 'read the patch: it is no JSON', { cause: error });
  }
  const spec = isMap(parsed) ? parsed.spec : undefined;
  if (!isMap(spec)) throw new PodwrightError('invalid_argument', 'read the patch: spec: must be a map');
  return spec;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
