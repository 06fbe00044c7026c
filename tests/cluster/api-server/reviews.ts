/** Reviews, whose result is in the object's status: whose token this is, and what a user may do. */
import type { Authenticator } from './authentication.ts';
import type { Authorizer } from './authorization.ts';
import { type ApiObject, isObject, listAt, objectAt, textAt } from './json.ts';
import { readObject, timestamp } from './object-meta.ts';
import type { ResourceRequest } from './resource-handler.ts';
import { methodNotAllowed, notFound } from './status-error.ts';
import { API_AUDIENCE } from './tokens.ts';
import type { UserInfo } from './user-info.ts';

type ReviewParts = { authenticator: Authenticator; authorizer: Authorizer };

export async function answerReview(request: ResourceRequest, parts: ReviewParts): Promise<void> {
  const { exchange, info, user } = request;
  if (info.verb !== 'create') throw methodNotAllowed();
  const object = readObject(info.kind, await exchange.body(), info.namespace);
  const status = statusOf(object, user, parts);
  if (status === undefined) throw notFound(info.kind, info.name);
  const metadata = { ...object.metadata, creationTimestamp: timestamp(new Date()) };
  exchange.answer(201, { ...object, metadata, status });
}

function statusOf(object: ApiObject, user: UserInfo, { authenticator, authorizer }: ReviewParts): unknown {
  switch (object.kind) {
    case 'TokenReview':
      return tokenStatus(object, authenticator);
    case 'SubjectAccessReview':
      return authorizer.review(reviewedUser(object), objectAt(object, 'spec'));
    case 'SelfSubjectAccessReview':
      return authorizer.review(user, objectAt(object, 'spec'));
    case 'SelfSubjectReview':
      return { userInfo: user };
    default:
      return undefined;
  }
}

function tokenStatus(object: ApiObject, authenticator: Authenticator): unknown {
  const asked = listAt(object, 'spec', 'audiences').map(String);
  const found = authenticator.userOfToken(textAt(object, 'spec', 'token'), asked.length === 0 ? [API_AUDIENCE] : asked);
  if (found === undefined) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user: found.user, audiences: found.audiences };
}

function reviewedUser(object: ApiObject): UserInfo {
  const spec = objectAt(object, 'spec');
  const extra = isObject(spec.extra) ? { extra: spec.extra as Record<string, string[]> } : {};
  return {
    username: textAt(spec, 'user'),
    groups: listAt(spec, 'groups').map(String),
    uid: textAt(spec, 'uid'),
    ...extra,
  };
}
