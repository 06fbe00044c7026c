import { applyDefaults } from '../defaults/defaults.ts';
import { formatFieldPath, IssueList } from '../issue.ts';
import type { ManifestObject } from '../objects/types.ts';
import { decodeObject } from '../schema/kinds.ts';
import type { TextPosition } from '../text/text-lines.ts';
import { validateObject } from '../validation/validate-object.ts';
import { type ErrorList, type Findings, MAX_ERRORS, ManifestError } from './manifest-errors.ts';
import type { Part } from './manifest-parts.ts';
import { decodeOther, type OtherObject } from './other-objects.ts';

/** An object with its position in the manifest, for error messages. */
export type PlacedObject = TextPosition & { file: string; object: ManifestObject };

/** An object of a kind supported only by nodes that serve the Kubernetes API, with its position. */
export type PlacedOther = TextPosition & { file: string; object: OtherObject };

/**
 * Decodes and validates an object of a kind that every node supports, even without the Kubernetes API, and sets the object's defaults.
 * Returns `undefined` after an error.
 */
export function decodePart(
  { file, document, value, base }: Part,
  found: Findings,
  namespace: string | undefined,
): PlacedObject | undefined {
  const { errors } = found;
  const issues = issuesOf({ file, base }, errors, found.forApi);
  const written = decodeObject(value, issues);
  const decoded = written && inNamespace(written, namespace, issues);
  const object = decoded === undefined || issues.count > 0 ? undefined : applyDefaults(decoded);
  if (object !== undefined) validateObject(object, issues);
  reportIssues(issues, { file, document }, errors);
  found.needsApi ||= issues.needsApi;
  if (object === undefined || issues.count > 0) return undefined;
  return { file, ...document.locate(base, 'value'), object };
}

/** Decodes an object of any other kind. Such objects are validated only by the API server. Returns `undefined` after an error. */
export function decodeOtherPart(
  { file, document, value, base }: Part,
  errors: ErrorList,
  namespace: string | undefined,
): PlacedOther | undefined {
  const issues = issuesOf({ file, base }, errors);
  const object = decodeOther(value as OtherObject, namespace, issues);
  reportIssues(issues, { file, document }, errors);
  return object && { file, ...document.locate(base, 'value'), object };
}

/** Returns a list that stores one issue more than is shown: the extra one provides the position of the line "and N more errors". */
function issuesOf({ file, base }: Pick<Part, 'file' | 'base'>, errors: ErrorList, forApi = false): IssueList {
  const limit = Math.max(0, MAX_ERRORS + 1 - errors.countIn(file));
  return forApi ? IssueList.forApi(base, limit) : new IssueList(base, limit);
}

function reportIssues(issues: IssueList, { file, document }: Pick<Part, 'file' | 'document'>, errors: ErrorList): void {
  for (const { path, message, at, unquoted } of issues.issues) {
    const hint = unquoted ? quoteHint(document.written(path)) : '';
    errors.push(new ManifestError({ file, ...document.locate(path, at), path: formatFieldPath(path) }, message + hint));
  }
  errors.skip(file, issues.count - issues.issues.length);
}

/**
 * Sets the namespace of an object that has none. Like kubectl with `--namespace`, reports an error if the object is in a different
 * namespace.
 */
function inNamespace(object: ManifestObject, namespace: string | undefined, issues: IssueList): ManifestObject {
  if (namespace === undefined || object.kind === 'RuntimeClass') return object;
  const own = object.metadata?.namespace || namespace; // metadata may be missing: that is an issue already
  if (own !== namespace)
    issues.at('metadata', 'namespace').add(`must be "${namespace}" as on the command line, got "${own}"`);
  return { ...object, metadata: { ...object.metadata, namespace } } as ManifestObject;
}

/** Returns a hint to quote a value like `on`, which YAML does not parse as a string. `written` is the value as written in the manifest. */
function quoteHint(written: string | undefined): string {
  return `; write it in quotes${written === undefined ? '' : `: "${written.slice(0, 100)}"`}`;
}
