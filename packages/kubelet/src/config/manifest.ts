import { applyDefaults } from '../api/defaults.ts';
import { type FieldPath, formatFieldPath, IssueList } from '../api/issue.ts';
import { decodeObject } from '../api/schema/kinds.ts';
import type { ConfigMap, ManifestObject, Pod, RuntimeClass, Secret } from '../api/types.ts';
import { validateObject } from '../api/validation/validate-object.ts';
import { readYamlDocuments, type TextPosition, type YamlDocument } from './yaml-documents.ts';

/** Larger manifests are refused unread. */
export const MAX_MANIFEST_BYTES = 4 << 20;
const MAX_DOCUMENTS = 1000;
const MAX_ERRORS = 100;
/** Names and values of a hostile manifest may be megabytes: an error shows as much of them as a person reads. */
const MAX_PATH_LENGTH = 500;
const MAX_MESSAGE_LENGTH = 1000;

/** One thing wrong with a manifest; as a string `file:line:column: field.path: message`. */
export class ManifestError {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** '' if the whole document or file is meant. */
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

/** The errors of one manifest: the first ones, and how many there are. */
class ErrorList {
  readonly #first: ManifestError[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(error: ManifestError): void {
    this.#count++;
    if (this.#first.length <= MAX_ERRORS) this.#first.push(error);
  }

  /** Counts errors that nobody wrote down. */
  skip(count: number): void {
    this.#count += count;
  }

  /** The first errors, and one that tells how many more there are. */
  list(): ManifestError[] {
    if (this.#count <= MAX_ERRORS) return this.#first;
    const last = this.#first.at(-1)!;
    return [
      ...this.#first.slice(0, MAX_ERRORS),
      new ManifestError(last, `and ${this.#count - MAX_ERRORS} more errors`),
    ];
  }
}

/** An object of a manifest and where it begins, for messages about it later. */
export type PlacedObject = TextPosition & { file: string; object: ManifestObject };

/** What a manifest says: complete, defaulted and valid objects in the order of the text; with errors, the good ones among them. */
export type DecodedManifest = {
  objects: PlacedObject[];
  pods: Pod[];
  configMaps: ConfigMap[];
  secrets: Secret[];
  runtimeClasses: RuntimeClass[];
  errors: ManifestError[];
};

/**
 * Decodes a YAML or JSON manifest of any number of documents, strictly: every unknown or unsupported field, wrong type and
 * broken rule is an error with its place. `file` only names the text in the errors.
 */
export function decodeManifest(text: string, { file }: { file: string }): DecodedManifest {
  const errors = new ErrorList();
  const objects = decodeObjects(text, file, errors);
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
    errors: errors.list(),
  };
}

function decodeObjects(text: string, file: string, errors: ErrorList): PlacedObject[] {
  const whole = { file, line: 1, column: 1 };
  const refuse = (message: string): PlacedObject[] => {
    errors.push(new ManifestError(whole, message));
    return [];
  };
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES) return refuse(`is larger than ${MAX_MANIFEST_BYTES >> 20} MiB`);
  const { documents, problems } = readYamlDocuments(text, MAX_DOCUMENTS);
  for (const problem of problems) errors.push(new ManifestError({ file, ...problem }, problem.message));
  if (documents.length > MAX_DOCUMENTS) return refuse(`holds more than ${MAX_DOCUMENTS} documents`);
  const parts = documents.flatMap(partsOf);
  if (parts.length === 0 && errors.count === 0) return refuse('holds no Kubernetes object');
  const placed = parts.map((part) => decodePart(part, file, errors)).filter((object) => object !== undefined);
  return withoutDuplicates(placed, errors);
}

/** One object of a document: the document itself, or an item of a `v1 List`. */
type Part = { document: YamlDocument; value: unknown; base: FieldPath };

function partsOf(document: YamlDocument): Part[] {
  const { value } = document;
  if (value === null || value === undefined) return [];
  const list = value as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (list.kind === 'List' && list.apiVersion === 'v1' && Array.isArray(list.items)) {
    return list.items.map((item, index) => ({ document, value: item, base: ['items', index] }));
  }
  return [{ document, value, base: [] }];
}

function decodePart({ document, value, base }: Part, file: string, errors: ErrorList): PlacedObject | undefined {
  // one more than are shown, which tells where the others begin
  const issues = new IssueList(base, Math.max(0, MAX_ERRORS + 1 - errors.count));
  const decoded = decodeObject(value, issues);
  const object = decoded === undefined || issues.count > 0 ? undefined : applyDefaults(decoded);
  if (object !== undefined) validateObject(object, issues);
  for (const { path, message, at } of issues.issues) {
    errors.push(new ManifestError({ file, ...document.locate(path, at), path: formatFieldPath(path) }, message));
  }
  errors.skip(issues.count - issues.issues.length);
  if (object === undefined || issues.count > 0) return undefined;
  return { file, ...document.locate(base, 'value'), object };
}

/** Keeps the first of objects with one kind, namespace and name, and names both places for the others. */
export function withoutDuplicates(objects: PlacedObject[], errors: Pick<ErrorList, 'push'>): PlacedObject[] {
  const first = new Map<string, PlacedObject>();
  return objects.filter((placed) => {
    const { kind, metadata } = placed.object;
    const name = metadata.namespace === '' ? metadata.name : `${metadata.namespace}/${metadata.name}`;
    const other = first.get(`${kind} ${name}`);
    if (other === undefined) {
      first.set(`${kind} ${name}`, placed);
      return true;
    }
    const where = `${other.file}:${other.line}:${other.column}`;
    errors.push(
      new ManifestError({ ...placed, path: 'metadata.name' }, `${kind} ${name} is already defined at ${where}`),
    );
    return false;
  });
}
