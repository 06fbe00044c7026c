import { createHmac, randomBytes } from 'node:crypto';
import { errorCode, errorMessage, isRecord, PodwrightError } from '@podwright/base';
import { type KubeClient, TOKEN_REVIEWS } from '@podwright/kube-client';
import { MAX_REVIEWED_TOKEN_LENGTH, MAX_REVIEWED_TOKENS, MAX_USER_LENGTH } from './limits.ts';
import { ReviewCache } from './review-cache.ts';
import { review } from './review-call.ts';
import type { User } from './token-file.ts';

/** Looks up the users of bearer tokens through TokenReviews, and caches the results for `keepMs`. */
export class TokenReviews {
  readonly #client: KubeClient;
  readonly #keepMs: number;
  readonly #cache = new ReviewCache<User | undefined>(MAX_REVIEWED_TOKENS);
  /** Key for the token HMACs under which results are cached. The tokens themselves are not stored. */
  readonly #secret = randomBytes(32);

  constructor(client: KubeClient, keepMs: number) {
    this.#client = client;
    this.#keepMs = keepMs;
  }

  /** Returns the token's user, or `undefined` if the token is unknown. Rejects if the review fails or its status is malformed. */
  async userOf(token: string): Promise<User | undefined> {
    if (token.length > MAX_REVIEWED_TOKEN_LENGTH) return undefined;
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    return this.#cache.answer(key, async () => {
      const status = await review(this.#client, TOKEN_REVIEWS, { token }).catch((error: unknown) => {
        // mask the token, which the API server's error message may quote
        throw new PodwrightError(errorCode(error), errorMessage(error).replaceAll(token, '…'));
      });
      return { value: reviewedUser(status), keepMs: this.#keepMs };
    });
  }
}

/**
 * Returns the user in a TokenReview's status, or `undefined` if the token was not authenticated. Throws `internal` if the user is invalid.
 * Pure.
 */
export function reviewedUser(status: unknown): User | undefined {
  const { authenticated, user } = (status ?? {}) as { authenticated?: unknown; user?: unknown };
  if (authenticated !== true) return undefined;
  const { username, uid, groups, extra } = (user ?? {}) as Record<string, unknown>;
  const isUser =
    typeof username === 'string' &&
    username !== '' &&
    (uid === undefined || typeof uid === 'string') &&
    (groups === undefined || isStrings(groups)) &&
    (extra === undefined || isExtra(extra)) &&
    JSON.stringify(user).length <= MAX_USER_LENGTH;
  if (!isUser) throw new PodwrightError('internal', 'review a bearer token: the API server returned no valid user');
  return { name: username, uid, groups: groups ?? [], extra } as User;
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isExtra = (value: unknown): value is Record<string, string[]> =>
  isRecord(value) && Object.values(value).every(isStrings);
