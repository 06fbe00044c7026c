import type { TextPosition } from '../text/text-lines.ts';

/** Maximum number of errors shown per file. Any more are only counted. */
export const MAX_ERRORS = 100;
/**
 * Maximum lengths in characters; longer paths and messages in errors are truncated, because names and values in a malicious manifest may be
 * megabytes long.
 */
const MAX_PATH_LENGTH = 500;
const MAX_MESSAGE_LENGTH = 1000;

/** One problem in a manifest. `toString` formats it as `file:line:column: field.path: message`. */
export class ManifestError {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path of the field; empty if the error is about the whole document or file. */
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
export class ErrorList {
  readonly #files = new Map<string, { first: ManifestError[]; count: number }>();

  /** Returns the number of errors of the file, including those that are not stored. */
  countIn(file: string): number {
    return this.#of(file).count;
  }

  push(error: ManifestError): void {
    const { first } = this.#of(error.file);
    this.skip(error.file, 1);
    if (first.length <= MAX_ERRORS) first.push(error);
  }

  /** Counts errors of a file without storing them. */
  skip(file: string, count: number): void {
    this.#of(file).count += count;
  }

  /** Returns the first errors of each of `files`, sorted by position, and one more error with the number of errors not shown. */
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

/** The errors, ignored objects and warnings found so far while decoding manifests. */
export class Findings {
  readonly strict: boolean;
  /** Whether the objects are for a node that serves the Kubernetes API. */
  readonly forApi: boolean;
  needsApi = false;
  readonly errors = new ErrorList();
  readonly leftOut = new ErrorList();
  readonly warnings: ErrorList;

  constructor({ strict = false, otherKinds = false }: { strict?: boolean; otherKinds?: boolean }) {
    this.strict = strict;
    this.forApi = otherKinds;
    this.warnings = strict ? this.errors : new ErrorList();
  }
}
