/** Path of a field in an object: field names and list indexes, starting at the root. */
export type FieldPath = readonly (string | number)[];

/**
 * A problem in an object. `at` says whether the field's name (`key`) or its value is wrong; `unquoted` means that the value would be valid
 * if it were quoted.
 */
export type FieldIssue = { path: FieldPath; message: string; at: 'key' | 'value'; unquoted?: true };

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Formats a field path like `spec.containers[0].ports[0].containerPort`. Map keys that are not identifiers are put in brackets. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'string' && identifier.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${step}]`;
  }
  return text;
}

/** Issues of an object, shared by the collectors for its parts. */
type Found = {
  issues: FieldIssue[];
  count: number;
  limit: number;
  ofApiServer?: boolean;
  /** Whether the object is for a node that serves the Kubernetes API. */
  forApi?: boolean;
  needsApi?: boolean;
};

/** Collects the issues of one object, up to a limit. `at` returns a collector for part of the object. */
export class IssueList {
  readonly path: FieldPath;
  readonly #found: Found;

  /** `limit` is the maximum number of issues to store; any more are only counted. */
  constructor(path: FieldPath = [], limit = Number.POSITIVE_INFINITY, found: Found = { issues: [], count: 0, limit }) {
    this.path = path;
    this.#found = found;
  }

  /**
   * Returns a collector for an object from an API server. The server has already validated it, so unknown fields are kept and not reported
   * as issues.
   */
  static ofApiServer(): IssueList {
    const limit = Number.POSITIVE_INFINITY;
    return new IssueList([], limit, { issues: [], count: 0, limit, ofApiServer: true });
  }

  /** Returns a collector for a manifest object to be applied to a node that serves the Kubernetes API. For `limit`, see the constructor. */
  static forApi(path: FieldPath, limit: number): IssueList {
    return new IssueList(path, limit, { issues: [], count: 0, limit, forApi: true });
  }

  /** Returns whether to accept a field that is supported only by nodes that serve the Kubernetes API. If so, sets `needsApi`. */
  acceptApiField(): boolean {
    if (this.#found.forApi) this.#found.needsApi = true;
    return this.#found.forApi === true || this.isOfApiServer;
  }

  /** Whether the object has fields that are supported only by nodes that serve the Kubernetes API. */
  get needsApi(): boolean {
    return this.#found.needsApi === true;
  }

  get isOfApiServer(): boolean {
    return this.#found.ofApiServer === true;
  }

  at(...steps: (string | number)[]): IssueList {
    return new IssueList([...this.path, ...steps], this.#found.limit, this.#found);
  }

  /** The stored issues, in the order they were added. */
  get issues(): readonly FieldIssue[] {
    return this.#found.issues;
  }

  /** Total number of issues, including those that are not stored. */
  get count(): number {
    return this.#found.count;
  }

  /**
   * Adds an issue about the value at this path. Pass a function if the message is expensive to build; it is called only if the issue is
   * stored.
   */
  add(message: string | (() => string)): void {
    this.#add(message, 'value');
  }

  /** Adds an issue about the name of the field at this path. */
  addKey(message: string | (() => string)): void {
    this.#add(message, 'key');
  }

  /**
   * Adds an issue about a value that would be valid if it were quoted. The caller appends the value as written in the manifest to the
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
