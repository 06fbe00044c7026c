/** TokenReview and SelfSubjectReview: creating one returns information about a user and stores nothing. */

import { badRequest } from '@podwright/api-machinery';
import { isRecord } from '@podwright/base';
import { formatTime } from '@podwright/kube-api';
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import { RefusedCredential, type TokenUser } from './authenticator.ts';

/** Returns the user of a token valid for one of the audiences. Throws `RefusedCredential` if it is not. */
type UserOfToken = (token: string, audiences: readonly string[]) => TokenUser;

/** Responds to a TokenReview. `defaults`: the audiences to use if the review names none. */
export function reviewToken(review: ApiObject, userOfToken: UserOfToken, defaults: readonly string[]): ApiObject {
  const { token, audiences } = isRecord(review.spec) ? review.spec : {};
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication');
  const requested = Array.isArray(audiences) && audiences.length > 0 ? audiences.map(String) : defaults;
  return { ...review, status: statusOf(() => userOfToken(token, requested)) };
}

function statusOf(find: () => TokenUser): unknown {
  try {
    const { user, audiences } = find();
    return { authenticated: true, user: fieldsOf(user), audiences };
  } catch (error) {
    if (error instanceof RefusedCredential) return { user: {}, error: error.message };
    throw error;
  }
}

/** Responds to a SelfSubjectReview. */
export function reviewSelf({ apiVersion, kind }: ApiObject, user: UserInfo, nowMs: number): ApiObject {
  const metadata = { creationTimestamp: formatTime(nowMs) };
  return { apiVersion, kind, metadata, status: { userInfo: fieldsOf(user) } };
}

function fieldsOf({ username, uid, groups, extra }: UserInfo): unknown {
  return {
    ...(username === '' ? {} : { username }),
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
