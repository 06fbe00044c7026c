/** The CEL variable `authorizer` (apiserver, pkg/cel/library/authz.go). */
import { EvaluationError, type FunctionTable, OpaqueValue, overload } from '@podwright/cel';
import { nameIsDnsLabel, nameIsDnsSubdomain, type UserInfo } from '@podwright/kube-kinds';
import type { PolicyAuthorizer, PolicyQuestion, PolicyVerdict } from './policy-authorizer.ts';

const PREFIX = 'kubernetes.authorization';
export const AUTHORIZER = `${PREFIX}.Authorizer`;
export const RESOURCE_CHECK = `${PREFIX}.ResourceCheck`;
const PATH_CHECK = `${PREFIX}.PathCheck`;
const GROUP_CHECK = `${PREFIX}.GroupCheck`;
const DECISION = `${PREFIX}.Decision`;

/** Cost of an authorization check. The limit of 1,000,000 per evaluation allows two checks. */
const CHECK_COST = 350_000;

type Who = { readonly authorizer: PolicyAuthorizer; readonly user: UserInfo };

abstract class Reference extends OpaqueValue {
  equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** The value of the `authorizer` variable, which checks what a user or service account may do. */
export class AuthorizerValue extends Reference {
  readonly typeName = AUTHORIZER;
  readonly who: Who;

  constructor(who: Who) {
    super();
    this.who = who;
  }
}

type Asked = Pick<PolicyQuestion, 'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name'> & {
  fieldSelector?: string;
};

/** A resource check, which expressions build up with calls such as `.namespace("default")`. */
export class ResourceCheck extends Reference {
  readonly typeName = RESOURCE_CHECK;
  readonly who: Who;
  readonly asked: Asked;

  constructor(who: Who, asked: Asked) {
    super();
    this.who = who;
    this.asked = asked;
  }
}

class GroupCheck extends Reference {
  readonly typeName = GROUP_CHECK;
  readonly who: Who;
  readonly group: string;

  constructor(who: Who, group: string) {
    super();
    this.who = who;
    this.group = group;
  }
}

class PathCheck extends Reference {
  readonly typeName = PATH_CHECK;
  readonly who: Who;
  readonly path: string;

  constructor(who: Who, path: string) {
    super();
    this.who = who;
    this.path = path;
  }
}

class DecisionValue extends Reference {
  readonly typeName = DECISION;
  readonly verdict: PolicyVerdict;

  constructor(verdict: PolicyVerdict) {
    super();
    this.verdict = verdict;
  }
}

const NOTHING = { apiGroup: '', resource: '', subresource: '', namespace: '', name: '', path: '' };

const withField = (name: keyof Asked) =>
  overload(
    `${RESOURCE_CHECK}.(string) -> ${RESOURCE_CHECK}`,
    ({ who, asked }: ResourceCheck, value: string) => new ResourceCheck(who, { ...asked, [name]: value }),
  );

const notEmpty = (name: string, text: string): string => {
  if (text.trim() === '') throw new EvaluationError(`${name} must not be empty`);
  return text;
};

function serviceAccount({ who }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (nameIsDnsSubdomain(name, false).length > 0) throw new EvaluationError('Invalid service account name');
  if (nameIsDnsLabel(namespace, false).length > 0) throw new EvaluationError('Invalid service account namespace');
  const username = `system:serviceaccount:${namespace}:${name}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return new AuthorizerValue({ ...who, user: { username, groups } as UserInfo });
}

const checkCost = () => CHECK_COST;

export const AUTHORIZER_FUNCTIONS: FunctionTable = {
  path: [
    overload(
      `${AUTHORIZER}.(string) -> ${PATH_CHECK}`,
      ({ who }: AuthorizerValue, path: string) => new PathCheck(who, notEmpty('path', path)),
    ),
  ],
  group: [
    overload(
      `${AUTHORIZER}.(string) -> ${GROUP_CHECK}`,
      ({ who }: AuthorizerValue, group: string) => new GroupCheck(who, group),
    ),
  ],
  serviceAccount: [overload(`${AUTHORIZER}.(string, string) -> ${AUTHORIZER}`, serviceAccount)],
  resource: [
    overload(
      `${GROUP_CHECK}.(string) -> ${RESOURCE_CHECK}`,
      ({ who, group }: GroupCheck, resource: string) =>
        new ResourceCheck(who, {
          ...{ apiGroup: group, resource: notEmpty('resource', resource), subresource: '', namespace: '', name: '' },
        }),
    ),
  ],
  subresource: [withField('subresource')],
  namespace: [withField('namespace')],
  name: [withField('name')],
  fieldSelector: [withField('fieldSelector')],
  labelSelector: [overload(`${RESOURCE_CHECK}.(string) -> ${RESOURCE_CHECK}`, (check: ResourceCheck) => check)],
  check: [
    overload(
      `${PATH_CHECK}.(string) -> ${DECISION}`,
      ({ who, path }: PathCheck, verb: string) =>
        new DecisionValue(
          who.authorizer.authorize({ ...NOTHING, user: who.user, verb, isResourceRequest: false, path }),
        ),
      checkCost,
    ),
    overload(
      `${RESOURCE_CHECK}.(string) -> ${DECISION}`,
      ({ who, asked }: ResourceCheck, verb: string) =>
        new DecisionValue(
          who.authorizer.authorize({ ...NOTHING, ...asked, user: who.user, verb, isResourceRequest: true }),
        ),
      checkCost,
    ),
  ],
  errored: [overload(`${DECISION}.() -> bool`, () => false)],
  error: [overload(`${DECISION}.() -> string`, () => '')],
  allowed: [overload(`${DECISION}.() -> bool`, ({ verdict }: DecisionValue) => verdict.decision === 'allow')],
  reason: [overload(`${DECISION}.() -> string`, ({ verdict }: DecisionValue) => verdict.reason)],
};
