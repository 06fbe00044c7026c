import type { ManifestObject } from '../objects/types.ts';

/**
 * Returns the reasons why `after` must not replace `before`, in the API server's words (core/validation: ValidateConfigMapUpdate,
 * ValidateSecretUpdate). Users have to delete and recreate such an object.
 */
export function immutableProblems(before: ManifestObject | undefined, after: ManifestObject): string[] {
  if (before?.kind !== 'ConfigMap' && before?.kind !== 'Secret') return [];
  const was = content(before);
  const is = content(after);
  const problems =
    before.kind === 'Secret' && was.type !== is.type ? [`type: Invalid value: "${is.type}": field is immutable`] : [];
  if (!before.immutable) return problems;
  const fields = ['immutable', 'data', 'binaryData'] as const;
  const changed = fields.filter((field) => sorted(was[field]) !== sorted(is[field]));
  return [...problems, ...changed.map((field) => `${field}: Forbidden: field is immutable when \`immutable\` is set`)];
}

type Content = {
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
};

const content = (object: ManifestObject): Content => object as Content;

/** Serializes a value for comparison, regardless of the order of its keys. */
function sorted(value: Record<string, string> | boolean | undefined): string {
  if (typeof value !== 'object') return JSON.stringify(value ?? {});
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))));
}
