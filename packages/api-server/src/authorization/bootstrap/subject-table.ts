import { RBAC_GROUP, type Subject } from '../rbac-objects.ts';

/** Subjects by the name of a binding: `user NAME`, `group NAME` or `account NAMESPACE/NAME`. */
export type SubjectTable = Readonly<Record<string, readonly string[]>>;

/** The subject that a line stands for. */
export function subjectOfLine(line: string): Subject {
  const [kind, name = ''] = line.split(' ');
  if (kind === 'account') {
    const [namespace = '', account = ''] = name.split('/');
    return { kind: 'ServiceAccount', name: account, namespace };
  }
  return { apiGroup: RBAC_GROUP, kind: kind === 'user' ? 'User' : 'Group', name };
}
