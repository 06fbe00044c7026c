/** A path in an object: field names and list positions from its root. */
export type FieldPath = readonly (string | number)[];

/**
 * A problem of an object. `at`: whether the field's name or its value is wrong; `unquoted`: the value would be valid in quotes.
 */
export type FieldIssue = { path: FieldPath; message: string; at: 'key' | 'value'; unquoted?: true };

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** For example `spec.containers[0].ports[0].containerPort`. Map keys that are not identifiers are in brackets. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'string' && identifier.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}

/** Issues of all collectors of one object. */
type Found = { issues: FieldIssue[]; count: number; limit: number; ofApiServer?: boolean };

/** Collects issues of one object, up to a limit; `at` returns a collector for a part of it. */
export class IssueList {
  readonly path: FieldPath;
  readonly #found: Found;

  /** `limit`: how many issues are stored; further ones are only counted. */
  constructor(path: FieldPath = [], limit = Number.POSITIVE_INFINITY, found: Found = { issues: [], count: 0, limit }) {
    this.path = path;
    this.#found = found;
  }

  /** For an object that an API server has validated: unknown fields are retained, and are not issues. */
  static ofApiServer(): IssueList {
    const limit = Number.POSITIVE_INFINITY;
    return new IssueList([], limit, { issues: [], count: 0, limit, ofApiServer: true });
  }

  /** Whether the list was made by `ofApiServer`. */
  get isOfApiServer(): boolean {
    return this.#found.ofApiServer === true;
  }

  at(...steps: (string | number)[]): IssueList {
    return new IssueList([...this.path, ...steps], this.#found.limit, this.#found);
  }

  /** The stored issues, in the order in which they were added. */
  get issues(): readonly FieldIssue[] {
    return this.#found.issues;
  }

  /** Number of all issues, including those that are not stored. */
  get count(): number {
    return this.#found.count;
  }

  /** Adds an issue of the value at this path. An expensive message is a function, called only if the issue is stored. */
  add(message: string | (() => string)): void {
    this.#add(message, 'value');
  }

  /** Adds an issue of the field's name at this path. */
  addKey(message: string | (() => string)): void {
    this.#add(message, 'key');
  }

  /** Adds an issue of a value at this path that would be valid in quotes; the caller reads the value's text from the manifest. */
  addUnquoted(message: () => string): void {
    this.#add(message, 'value', { unquoted: true });
  }

  #add(message: string | (() => string), at: FieldIssue['at'], more: Pick<FieldIssue, 'unquoted'> = {}): void {
    const { issues, limit } = this.#found;
    this.#found.count++;
    if (issues.length >= limit) return;
    issues.push({ path: this.path, message: typeof message === 'string' ? message : message(), at, ...more });
  }
}
