/** Authorization: administrators have all rights, nodes those of the Node authorizer, others those that a test allows. */
import { type ApiObject, objectAt, textAt } from './json.ts';
import { nodeRefusal } from './node-authorizer.ts';
import { nodeChangeRefusal } from './node-restriction.ts';
import type { Registry } from './registry.ts';
import type { RequestInfo } from './request-info.ts';
import { nameInSelector } from './selectors.ts';
import { forbidden } from './status-error.ts';
import { AUTHENTICATED, BOOTSTRAPPERS, MASTERS, nodeNameOf, type UserInfo } from './user-info.ts';

export type AccessQuestion = {
  user: UserInfo;
  verb: string;
  group: string;
  /** The plural, including `/subresource`. */
  resource: string;
  namespace: string;
  name: string;
  fieldSelector: string;
};

export type AccessRule = (question: AccessQuestion) => boolean;

const SELF_REVIEWS = ['selfsubjectreviews', 'selfsubjectaccessreviews'];
const REQUEST_VERBS = ['create', 'get', 'list', 'watch'];

/** Rights in every cluster. */
const GENERAL_RULES: AccessRule[] = [
  ({ user, resource, verb }) =>
    user.groups.includes(AUTHENTICATED) && SELF_REVIEWS.includes(resource) && verb === 'create',
  ({ user, resource, verb }) =>
    user.groups.includes(BOOTSTRAPPERS) && resource === 'certificatesigningrequests' && REQUEST_VERBS.includes(verb),
];

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
  /** Whether nodes are restricted by the Node authorizer and NodeRestriction. */
  readonly #restrictsNodes: boolean;

  constructor({ registry, restrictsNodes }: { registry: Registry; restrictsNodes: boolean }) {
    this.#registry = registry;
    this.#restrictsNodes = restrictsNodes;
  }

  /** From now on allows the requests for which the rule returns true. */
  allow(rule: AccessRule): void {
    this.#rules.push(rule);
  }

  /** Throws 403 if the user is not allowed. */
  check(info: RequestInfo, user: UserInfo, query: URLSearchParams): void {
    const { kind, namespace, name, verb, subresource } = info;
    const resource = subresource === '' ? kind.plural : `${kind.plural}/${subresource}`;
    const fieldSelector = query.get('fieldSelector') ?? '';
    const selected = name === '' ? (nameInSelector(fieldSelector) ?? '') : name;
    const question = { user, verb, group: kind.group, resource, namespace, name: selected, fieldSelector };
    const refusal = this.#refusal(question);
    if (refusal === undefined) return;
    const where = namespace === '' ? ' at the cluster scope' : ` in the namespace "${namespace}"`;
    throw forbidden(
      kind,
      name,
      `User "${user.username}" cannot ${verb} resource "${resource}" in API group "${kind.group}"${where}${refusal === '' ? '' : `: ${refusal}`}`,
    );
  }

  /** Throws 403 if the user may not write this object. */
  admit({ info, user, object, old }: AdmittedChange): void {
    const node = nodeNameOf(user);
    if (node === undefined || !this.#restrictsNodes) return;
    const { kind, verb } = info;
    const resource = info.subresource === '' ? kind.plural : `${kind.plural}/${info.subresource}`;
    const why = nodeChangeRefusal(this.#registry, { node, verb, resource, object, old });
    if (why !== undefined) throw forbidden(kind, info.name || (object.metadata.name ?? ''), why);
  }

  /** The status of a SubjectAccessReview. */
  review(user: UserInfo, spec: unknown): { allowed: boolean; reason?: string } {
    const attributes = objectAt(spec, 'resourceAttributes');
    const sub = textAt(attributes, 'subresource');
    const resource = textAt(attributes, 'resource');
    const refusal = this.#refusal({
      user,
      verb: textAt(attributes, 'verb'),
      group: textAt(attributes, 'group'),
      resource: sub === '' ? resource : `${resource}/${sub}`,
      namespace: textAt(attributes, 'namespace'),
      name: textAt(attributes, 'name'),
      fieldSelector: '',
    });
    return { allowed: refusal === undefined, ...(refusal ? { reason: refusal } : {}) };
  }

  /** The reason for a denial; undefined if allowed. */
  #refusal(question: AccessQuestion): string | undefined {
    const { groups } = question.user;
    if (groups.includes(MASTERS)) return undefined;
    if ([...GENERAL_RULES, ...this.#rules].some((rule) => rule(question))) return undefined;
    const node = nodeNameOf(question.user);
    if (node === undefined) return '';
    return this.#restrictsNodes ? nodeRefusal(this.#registry, { ...question, node }) : undefined;
  }
}
