import type { UserInfo } from '@podwright/kube-kinds';
import { accountUser } from './known-users.ts';
import type { RoleBinding, Subject } from './rbac-objects.ts';
import type { AppliedBinding } from './rbac-source.ts';

/** A binding with its subjects. `subjects` maps subject keys to subjects, so each occurs only once. */
type IndexedBinding = { binding: AppliedBinding; subjects: Map<string, Subject> };

/**
 * Index of a namespace's bindings by subject. A request costs one lookup for its user and one per group, regardless of how many bindings
 * other users have.
 */
export class SubjectIndex {
  /** The bindings, by their object key. */
  readonly #bindings = new Map<string, IndexedBinding>();
  /** The object keys of the bindings that each subject occurs in, by subject key. */
  readonly #keys = new Map<string, Set<string>>();

  /** Adds a binding, or replaces the one with the same key. */
  set(key: string, { metadata, roleRef, subjects }: RoleBinding): void {
    this.delete(key);
    const namespace = metadata.namespace ?? '';
    const indexed = new Map<string, Subject>();
    for (const subject of subjects ?? []) {
      const subjectKey = keyOfSubject(subject, namespace);
      if (subjectKey === undefined || indexed.has(subjectKey)) continue;
      indexed.set(subjectKey, subject);
      const same = this.#keys.get(subjectKey) ?? new Set();
      this.#keys.set(subjectKey, same.add(key));
    }
    const binding = { name: metadata.name ?? '', namespace, roleRef, subject: NO_SUBJECT };
    this.#bindings.set(key, { binding, subjects: indexed });
  }

  delete(key: string): void {
    const indexed = this.#bindings.get(key);
    if (indexed === undefined) return;
    this.#bindings.delete(key);
    for (const subject of indexed.subjects.keys()) {
      const same = this.#keys.get(subject)!;
      same.delete(key);
      if (same.size === 0) this.#keys.delete(subject);
    }
  }

  /** Returns the bindings that apply to a user, ordered by key. */
  bindingsOf({ username, groups }: UserInfo): AppliedBinding[] {
    const users = [userKey(username), ...groups.map(groupKey)];
    const keys = new Set(users.flatMap((user) => [...(this.#keys.get(user) ?? [])]));
    const isUser = new Set(users);
    return [...keys].sort().map((key) => {
      const { binding, subjects } = this.#bindings.get(key)!;
      const [, subject] = [...subjects].find(([subjectKey]) => isUser.has(subjectKey))!;
      return { ...binding, subject };
    });
  }
}

const NO_SUBJECT: Subject = { kind: '', name: '' };

const userKey = (name: string) => `user ${name}`;
const groupKey = (name: string) => `group ${name}`;

/** Returns a subject's key. The namespace of a service account defaults to the binding's. */
function keyOfSubject({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  switch (kind) {
    case 'User':
      return userKey(name);
    case 'Group':
      return groupKey(name);
    case 'ServiceAccount': {
      const owner = namespace === '' ? bindingNamespace : namespace;
      return owner === '' ? undefined : userKey(accountUser(owner, name));
    }
    default:
      return undefined;
  }
}
