import { isRecord } from '@podwright/base';
import { applyDefaults } from '../defaults/defaults.ts';
import { type FieldPath, formatFieldPath, IssueList } from '../issue.ts';
import type { ConfigMap, ManifestObject, PersistentVolumeClaim, Pod, RuntimeClass, Secret } from '../objects/types.ts';
import { decodeObject, reasonToLeaveOut, templatePath } from '../schema/kinds.ts';
import type { TextPosition } from '../text/text-lines.ts';
import { readYamlDocuments, type YamlDocument } from '../text/yaml-documents.ts';
import { validateObject } from '../validation/validate-object.ts';
import { decodeOther, isOtherKind, type OtherObject } from './other-objects.ts';

/** Larger manifests are rejected without being parsed. */
export const MAX_MANIFEST_BYTES = 4 << 20;
/** Likewise for a manifest that may contain any kind. It is larger, because CustomResourceDefinitions of one project can have 5 MiB. */
export const MAX_API_MANIFEST_BYTES = 8 << 20;
const MAX_API_TOKENS = 500_000;
const MAX_DOCUMENTS = 1000;
const MAX_ERRORS = 100;
/** Errors show at most this many characters of a path or a message: names and values in a hostile manifest may be megabytes long. */
const MAX_PATH_LENGTH = 500;
const MAX_MESSAGE_LENGTH = 1000;

/** One problem in a manifest. `toString` formats it as `file:line:column: field.path: message`. */
export class ManifestError {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** '' if the error is about the whole document or file. */
  readonly path: string;
  readonly message: string;

  constructor(place: TextPosition & { file: string; path?: string }, message: string) {
    this.file = place.file;
    this.line = place.line;
    this.column = place.column;
    this.path = cut(place.path ?? '', MAX_PATH_LENGTH);
    this.message = cut(message, MAX_MESSAGE_LENGTH);
  }

  toString(): string {
    const place = `${this.file}:${this.line}:${this.column}`;
    return this.path === '' ? `${place}: ${this.message}` : `${place}: ${this.path}: ${this.message}`;
  }
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Stores the first few errors of each file and counts all of them. */
class ErrorList {
  readonly #files = new Map<string, { first: ManifestError[]; count: number }>();

  countIn(file: string): number {
    return this.#of(file).count;
  }

  push(error: ManifestError): void {
    const { first } = this.#of(error.file);
    this.skip(error.file, 1);
    if (first.length <= MAX_ERRORS) first.push(error);
  }

  /** Counts errors without storing them. */
  skip(file: string, count: number): void {
    this.#of(file).count += count;
  }

  /** Returns the first errors of each of `files`, sorted by position, plus one more error that states the number of those not shown. */
  list(files: readonly string[]): ManifestError[] {
    return [...new Set(files)].flatMap((file) => {
      const { first, count } = this.#of(file);
      const sorted = first.toSorted((a, b) => a.line - b.line); // within a line the likely cause comes first
      if (count <= MAX_ERRORS) return sorted;
      const { line, column } = sorted[MAX_ERRORS]!;
      const more = new ManifestError({ file, line, column }, `and ${count - MAX_ERRORS} more errors`);
      return [...sorted.slice(0, MAX_ERRORS), more];
    });
  }

  #of(file: string): { first: ManifestError[]; count: number } {
    const known = this.#files.get(file) ?? { first: [], count: 0 };
    this.#files.set(file, known);
    return known;
  }
}

/** An object in a manifest, with its position for later messages. */
export type PlacedObject = TextPosition & { file: string; object: ManifestObject };

/** An object of a kind that needs a Kubernetes API, with its position. */
export type PlacedOther = TextPosition & { file: string; object: OtherObject };

/** The text of a manifest, and its file name for messages. */
export type ManifestText = { file: string; text: string };

/** The result of decoding manifests. The valid objects, with defaults, are in the order in which they appear; invalid ones are left out. */
export type DecodedManifest = {
  objects: PlacedObject[];
  pods: Pod[];
  configMaps: ConfigMap[];
  secrets: Secret[];
  runtimeClasses: RuntimeClass[];
  claims: PersistentVolumeClaim[];
  errors: ManifestError[];
  /** Names of the objects that have errors, such as `Secret default/a`. */
  refused: string[];
  /** Ignored objects that a standalone node does not need, one entry each. */
  leftOut: ManifestError[];
  /** Problems that do not prevent decoding, such as duplicate fields. */
  warnings: ManifestError[];
  /** Objects of kinds that need a Kubernetes API; empty unless the option `otherKinds` is set. */
  others: PlacedOther[];
  /** Whether an object or a template needs a Kubernetes API, because of its kind or a field. Never set without the option `otherKinds`. */
  needsApi: boolean;
  /** The valid pods of workloads; empty unless the option `templates` is set. */
  templates: DecodedTemplate[];
  /** Returns the position of a field in one of the objects or in a template's pod. */
  placeOf: (
    object: ManifestObject,
    path: FieldPath,
    at: 'key' | 'value',
  ) => (TextPosition & { file: string }) | undefined;
};

/**
 * A pod as its workload would create it. `path` is the path of the pod template in the workload; `workload` is the workload's kind and
 * name, such as `Deployment default/web`.
 */
export type DecodedTemplate = { pod: Pod; workload: string; path: FieldPath };

/**
 * If `templates` is set, the pods of workloads are also decoded, although the workloads themselves are rejected unless `otherKinds` is set.
 * With `otherKinds`, objects of any kind, and fields that need one, are accepted, for a node with a Kubernetes API. If `strict` is set,
 * ignored objects and warnings become errors. `namespace` is set on objects that have no namespace; objects in any other namespace are
 * rejected.
 */
export type DecodeOptions = { strict?: boolean; namespace?: string; templates?: boolean; otherKinds?: boolean };

/**
 * Decodes a YAML or JSON manifest with any number of documents. Every unknown or unsupported field, wrong type and violated rule is an
 * error, reported with its position. `file` is used only in messages. Objects that pods do not need are ignored, unless the manifest
 * contains nothing else.
 */
export function decodeManifest(text: string, { file, ...options }: { file: string } & DecodeOptions): DecodedManifest {
  return decodeManifests([{ file, text }], options);
}

/** Decodes several manifests together; limits and positions apply to each of them separately. */
export function decodeManifests(texts: readonly ManifestText[], options: DecodeOptions = {}): DecodedManifest {
  const found = new Findings(options);
  const parts = texts.flatMap(({ file, text }) => partsOf(text, file, found));
  const leaveOut = parts.some(({ reason }) => reason === undefined) && !found.strict;
  const placed: PlacedObject[] = [];
  const placedOthers: PlacedOther[] = [];
  const refused: string[] = [];
  const partOf = new Map<ManifestObject, Part>();
  for (const part of parts) {
    if (options.otherKinds && isOtherKind(part.value)) {
      const other = decodeOtherPart(part, found.errors, options.namespace);
      if (other === undefined) refused.push(nameOfPart(part, options.namespace));
      else placedOthers.push(other);
      continue;
    }
    if (part.reason !== undefined && leaveOut) {
      found.leftOut.push(leftOutNote(part, part.reason));
      continue;
    }
    const one = decodePart(part, found, options.namespace);
    if (one === undefined) refused.push(nameOfPart(part, options.namespace));
    else {
      partOf.set(one.object, part);
      placed.push(one);
    }
  }
  const objects = withoutDuplicates(placed, found.errors);
  const others = withoutDuplicates(placedOthers, found.errors);
  const templates = options.templates ? templatesOf(parts, { objects, found, partOf, options }) : [];
  const files = texts.map(({ file }) => file);
  return {
    ...byKind(objects),
    errors: found.errors.list(files),
    refused,
    leftOut: found.leftOut.list(files),
    warnings: found.warnings === found.errors ? [] : found.warnings.list(files),
    others,
    needsApi: found.needsApi || others.length > 0,
    templates,
    placeOf: (object, path, at) => {
      const part = partOf.get(object);
      return part && { file: part.file, ...part.document.locate([...part.base, ...path], at) };
    },
  };
}

/** The errors, ignored objects and warnings found so far. */
class Findings {
  readonly strict: boolean;
  /** Whether the objects are for a node with a Kubernetes API. */
  readonly forApi: boolean;
  needsApi = false;
  readonly errors = new ErrorList();
  readonly leftOut = new ErrorList();
  readonly warnings: ErrorList;

  constructor({ strict = false, otherKinds = false }: DecodeOptions) {
    this.strict = strict;
    this.forApi = otherKinds;
    this.warnings = strict ? this.errors : new ErrorList();
  }
}

function byKind(objects: PlacedObject[]) {
  const only = <K extends ManifestObject['kind']>(kind: K) =>
    objects.map(({ object }) => object).filter((object) => object.kind === kind) as Extract<
      ManifestObject,
      { kind: K }
    >[];
  return {
    objects,
    pods: only('Pod'),
    configMaps: only('ConfigMap'),
    secrets: only('Secret'),
    runtimeClasses: only('RuntimeClass'),
    claims: only('PersistentVolumeClaim'),
  };
}

/** One object in a document: the document itself, or an item of a list. `reason` is set if the object may be ignored. */
type Part = { file: string; document: YamlDocument; value: unknown; base: FieldPath; reason?: string };

function partsOf(text: string, file: string, { errors, warnings, forApi }: Findings): Part[] {
  const whole = { file, line: 1, column: 1 };
  const refuse = (message: string): Part[] => {
    errors.push(new ManifestError(whole, message));
    return [];
  };
  const maxBytes = forApi ? MAX_API_MANIFEST_BYTES : MAX_MANIFEST_BYTES;
  if (Buffer.byteLength(text) > maxBytes) return refuse(`is larger than ${maxBytes >> 20} MiB`);
  const { documents, problems } = readYamlDocuments(text, MAX_DOCUMENTS, forApi ? MAX_API_TOKENS : undefined);
  for (const problem of problems) errors.push(new ManifestError({ file, ...problem }, problem.message));
  if (documents.length > MAX_DOCUMENTS) return refuse(`holds more than ${MAX_DOCUMENTS} documents`);
  for (const { line, column, message } of documents.flatMap(({ duplicates }) => duplicates))
    warnings.push(new ManifestError({ file, line, column }, message));
  const parts = documents.flatMap((document) => itemsOf({ file, document, value: document.value, base: [] }));
  return parts.length === 0 && problems.length === 0 ? refuse('contains no Kubernetes object') : parts;
}

/** Returns the items of a `List`, `PodList` or similar, which may omit their kind. Any other value is treated as a single object. */
function itemsOf(part: Part): Part[] {
  const { value, base } = part;
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) {
    const reason = typeof kind === 'string' && typeof apiVersion === 'string' && reasonToLeaveOut(kind, apiVersion);
    return [{ ...part, ...(reason ? { reason } : {}) }];
  }
  const implied = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.flatMap((item: unknown, index) =>
    itemsOf({ ...part, value: isRecord(item) ? { ...implied, ...item } : item, base: [...base, 'items', index] }),
  );
}

function leftOutNote({ file, document, value, base }: Part, reason: string): ManifestError {
  const { kind, metadata } = value as { kind: string; metadata?: { name?: unknown } };
  const name = typeof metadata?.name === 'string' ? ` ${metadata.name.slice(0, 300)}` : '';
  return new ManifestError({ file, ...document.locate(base, 'value') }, `${kind}${name} is left out: ${reason}`);
}

function nameOfPart({ value }: Part, namespace = 'default'): string {
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown; name?: unknown } };
  return kind === 'RuntimeClass'
    ? `RuntimeClass ${metadata?.name}`
    : `${kind} ${metadata?.namespace ?? namespace}/${metadata?.name}`;
}

function decodePart(
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

function decodeOtherPart(
  { file, document, value, base }: Part,
  errors: ErrorList,
  namespace: string | undefined,
): PlacedOther | undefined {
  const issues = issuesOf({ file, base }, errors);
  const object = decodeOther(value as OtherObject, namespace, issues);
  reportIssues(issues, { file, document }, errors);
  return object && { file, ...document.locate(base, 'value'), object };
}

/** Returns a list that stores one more issue than is shown; the line "and N more errors" gets its position. */
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

type TemplatesInput = {
  objects: readonly PlacedObject[];
  found: Findings;
  partOf: Map<ManifestObject, Part>;
  options: DecodeOptions;
};

/**
 * Decodes the pods of workloads. Each pod is named after its workload; if another pod already has that name, the workload's kind is
 * appended.
 */
function templatesOf(parts: Part[], { objects, found, partOf, options }: TemplatesInput): DecodedTemplate[] {
  const names = new Set(objects.filter(({ object }) => object.kind === 'Pod').map(({ object }) => nameIn(object)));
  return parts.flatMap((part): DecodedTemplate[] => {
    const { kind, metadata } = isRecord(part.value) ? part.value : {};
    const path = templatePath(kind);
    const template = path && fieldAt(part.value, path);
    if (path === undefined || !isRecord(template)) return [];
    const { name = 'template', namespace } = isRecord(metadata) ? metadata : {};
    const own = isRecord(template.metadata) ? template.metadata : {};
    const spec = withClaims(template.spec, fieldAt(part.value, ['spec', 'volumeClaimTemplates']));
    const value = { ...template, spec, apiVersion: 'v1', kind: 'Pod', metadata: { ...own, name, namespace } };
    const inside = { ...part, value, base: [...part.base, ...path] };
    const pod = decodePart(inside, found, options.namespace)?.object;
    if (pod?.kind !== 'Pod') return [];
    const policy = restartPolicyProblem(String(kind), pod, template);
    if (policy !== undefined) {
      const field = [...inside.base, 'spec', 'restartPolicy'];
      const { file, document } = part;
      found.errors.push(
        new ManifestError({ file, ...document.locate(field, 'value'), path: formatFieldPath(field) }, policy),
      );
    }
    const workload = `${kind} ${nameIn(pod)}`;
    while (names.has(nameIn(pod))) pod.metadata.name += `-${String(kind).toLowerCase()}`;
    names.add(nameIn(pod));
    partOf.set(pod, inside);
    return [{ pod, workload, path }];
  });
}

/**
 * Adds a volume for each of a StatefulSet's claim templates. They come after the template's own volumes, so that the list indexes of those
 * do not change.
 */
function withClaims(spec: unknown, claims: unknown): unknown {
  if (!isRecord(spec) || !Array.isArray(claims)) return spec;
  const { volumes = [] } = spec;
  if (!Array.isArray(volumes)) return spec;
  const known = new Set(volumes.map((volume) => fieldAt(volume, ['name'])));
  const names = claims.map((claim) => fieldAt(claim, ['metadata', 'name']));
  const added = names.filter((name) => typeof name === 'string' && !known.has(name));
  return { ...spec, volumes: [...volumes, ...added.map((name) => ({ name, emptyDir: {} }))] };
}

/** Checks a template's restart policy the way upstream's API server does: it must be `Always`, except in Jobs, where it must not be. */
function restartPolicyProblem(kind: string, { spec: { restartPolicy } }: Pod, template: object): string | undefined {
  if (kind === 'PodTemplate') return undefined;
  const isJob = kind === 'Job' || kind === 'CronJob';
  if ((restartPolicy === 'Always') !== isJob) return undefined;
  const byDefault = fieldAt(template, ['spec', 'restartPolicy']) === undefined ? ', the default' : '';
  return `must be ${isJob ? 'OnFailure or Never' : 'Always'} in a ${kind}, got "${restartPolicy}"${byDefault}`;
}

const nameIn = ({ metadata: { namespace, name } }: ManifestObject) => `${namespace}/${name}`;

function fieldAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, step) => (isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined), value);
}

/** Applies the namespace the way kubectl's `--namespace` does. */
function inNamespace(object: ManifestObject, namespace: string | undefined, issues: IssueList): ManifestObject {
  if (namespace === undefined || object.kind === 'RuntimeClass') return object;
  const own = object.metadata?.namespace || namespace; // metadata may be missing: that is an issue already
  if (own !== namespace)
    issues.at('metadata', 'namespace').add(`must be "${namespace}" as on the command line, got "${own}"`);
  return { ...object, metadata: { ...object.metadata, namespace } } as ManifestObject;
}

function quoteHint(written: string | undefined): string {
  return `; write it in quotes${written === undefined ? '' : `: "${written.slice(0, 100)}"`}`;
}

/** Removes each object that has the same kind, namespace and name as an earlier one, and reports an error with both positions. */
export function withoutDuplicates<T extends PlacedObject | PlacedOther>(
  objects: T[],
  errors: Pick<ErrorList, 'push'>,
): T[] {
  const first = new Map<string, T>();
  return objects.filter((placed) => {
    const { apiVersion, kind, metadata } = placed.object;
    const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const key = `${group} ${kind} ${name}`;
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, placed);
      return true;
    }
    const where = `${other.file}:${other.line}:${other.column}`;
    errors.push(
      new ManifestError({ ...placed, path: 'metadata.name' }, `${kind} ${name} is already defined at ${where}`),
    );
    return false;
  });
}
