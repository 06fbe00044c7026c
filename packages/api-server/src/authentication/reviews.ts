/** Objects whose creation returns who a user is and stores nothing: TokenReview and SelfSubjectReview. */

import { isRecord } from '@podwright/base';
import { formatTime } from '@podwright/kube-api';
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import { badRequest } from '../status/api-error.ts';
import { RefusedCredential, type TokenUser } from './authenticator.ts';

/** Finds the user of a token with one of the audiences. Throws `RefusedCredential`. */
type UserOfToken = (token: string, audiences: readonly string[]) => TokenUser;

/** Answers a TokenReview. `defaults` are the audiences of a review that names none. */
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

/** Answers a SelfSubjectReview. */
export function reviewSelf({ apiVersion, kind }: ApiObject, user: UserInfo, nowMs: number): ApiObject {
  const metadata = { creationTimestamp: formatTime(nowMs) };
  return { apiVersion, kind, metadata, status: { userInfo: fieldsOf(user) } };
}

/** The user without empty fields. */
function fieldsOf({ username, uid, groups, extra }: UserInfo): unknown {
  return {
    ...(username === '' ? {} : { username }),
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
