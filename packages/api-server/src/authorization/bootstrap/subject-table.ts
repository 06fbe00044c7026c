import { RBAC_GROUP, type Subject } from '../rbac-objects.ts';

/** Subjects by binding name, each written as `user NAME`, `group NAME` or `account NAMESPACE/NAME`. */
export type SubjectTable = Readonly<Record<string, readonly string[]>>;

/** Parses a subject. */
export function subjectOfLine(line: string): Subject {
  const [kind, name = ''] = line.split(' ');
  if (kind === 'account') {
    const [namespace = '', account = ''] = name.split('/');
    return { kind: 'ServiceAccount', name: account, namespace };
  }
  return { apiGroup: RBAC_GROUP, kind: kind === 'user' ? 'User' : 'Group', name };
}
