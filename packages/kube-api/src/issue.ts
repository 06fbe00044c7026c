/** Where in an object: field names and list positions from its root. */
export type FieldPath = readonly (string | number)[];

/**
 * Something wrong with an object. `at` says whether the field's name or its value is to blame; `unquoted` is a value that would be
 * right in quotes.
 */
export type FieldIssue = { path: FieldPath; message: string; at: 'key' | 'value'; unquoted?: true };

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `spec.containers[0].ports[0].containerPort`; keys of maps that are no identifiers go in brackets. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'string' && identifier.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}

/** What collectors of one object have found together. */
type Found = { issues: FieldIssue[]; count: number; limit: number; ofApiServer?: boolean };

/** Collects issues on a walk through an object, up to a limit; `at` makes a collector for a part of it. */
export class IssueList {
  readonly path: FieldPath;
  readonly #found: Found;

  /** `limit` is how many issues are kept; the others are only counted. */
  constructor(path: FieldPath = [], limit = Number.POSITIVE_INFINITY, found: Found = { issues: [], count: 0, limit }) {
    this.path = path;
    this.#found = found;
  }

  /** For an object that an API server has validated: what nobody here knows of it is kept, and no issue. */
  static ofApiServer(): IssueList {
    const limit = Number.POSITIVE_INFINITY;
    return new IssueList([], limit, { issues: [], count: 0, limit, ofApiServer: true });
  }

  /** Whether the object is one of `ofApiServer`. */
  get isOfApiServer(): boolean {
    return this.#found.ofApiServer === true;
  }

  at(...steps: (string | number)[]): IssueList {
    return new IssueList([...this.path, ...steps], this.#found.limit, this.#found);
  }

  /** The issues that were kept, in the order in which they were found. */
  get issues(): readonly FieldIssue[] {
    return this.#found.issues;
  }

  /** How many issues there are, those that were not kept too. */
  get count(): number {
    return this.#found.count;
  }

  /** Reports the value here. A message that takes time to make is a function, called only if it is kept. */
  add(message: string | (() => string)): void {
    this.#add(message, 'value');
  }

  /** Reports the name of the field here. */
  addKey(message: string | (() => string)): void {
    this.#add(message, 'key');
  }

  /** Reports a value here that quotes would make right: what it is then only the text of the manifest tells. */
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
