/** Where in an object: field names and list positions from its root. */
export type FieldPath = readonly (string | number)[];

/** Something wrong with an object. `at` says whether the field's name or its value is to blame. */
export type FieldIssue = { path: FieldPath; message: string; at: 'key' | 'value' };

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

/** Collects issues on a walk through an object; `at` makes a collector for a part of it. */
export class IssueList {
  readonly path: FieldPath;
  readonly issues: FieldIssue[];

  constructor(path: FieldPath = [], issues: FieldIssue[] = []) {
    this.path = path;
    this.issues = issues;
  }

  at(...steps: (string | number)[]): IssueList {
    return new IssueList([...this.path, ...steps], this.issues);
  }

  /** Reports the value here. */
  add(message: string): void {
    this.issues.push({ path: this.path, message, at: 'value' });
  }

  /** Reports the name of the field here. */
  addKey(message: string): void {
    this.issues.push({ path: this.path, message, at: 'key' });
  }
}
