/** A path in an object: field names and list indexes, starting at the root. */
export type FieldPath = readonly (string | number)[];

/**
 * A problem in an object. `at` says whether the field's name or its value is wrong; `unquoted` means that the value would be
 * valid in quotes.
 */
export type FieldIssue = { path: FieldPath; message: string; at: 'key' | 'value'; unquoted?: true };

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Formats a path, such as `spec.containers[0].ports[0].containerPort`. Map keys that are not identifiers are in brackets. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'string' && identifier.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}

/** Issues shared by all collectors of one object. */
type Found = { issues: FieldIssue[]; count: number; limit: number; ofApiServer?: boolean };

/** Collects the issues of one object, up to a limit. `at` returns a collector for one of its parts. */
export class IssueList {
  readonly path: FieldPath;
  readonly #found: Found;

  /** `limit` is the number of issues to store; further ones are only counted. */
  constructor(path: FieldPath = [], limit = Number.POSITIVE_INFINITY, found: Found = { issues: [], count: 0, limit }) {
    this.path = path;
    this.#found = found;
  }

  /**
   * Returns a collector for an object from an API server, which has validated it: unknown fields are kept, and are not issues.
   */
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

  /** The number of all issues, including issues that are not stored. */
  get count(): number {
    return this.#found.count;
  }

  /**
   * Adds an issue with the value at this path. Pass a function if the message is expensive; it is called only if the issue is
   * stored.
   */
  add(message: string | (() => string)): void {
    this.#add(message, 'value');
  }

  /** Adds an issue with the name of the field at this path. */
  addKey(message: string | (() => string)): void {
    this.#add(message, 'key');
  }

  /**
   * Adds an issue with a value that would be valid in quotes. The caller appends the value's text from the manifest to the
   * message.
   */
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
