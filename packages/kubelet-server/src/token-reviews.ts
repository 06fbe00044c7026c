import { createHmac, randomBytes } from 'node:crypto';
import { errorCode, errorMessage, isRecord, PodwrightError } from '@podwright/base';
import { type KubeClient, TOKEN_REVIEWS } from '@podwright/kube-client';
import { MAX_REVIEWED_TOKEN_LENGTH, MAX_REVIEWED_TOKENS, MAX_USER_LENGTH } from './limits.ts';
import { ReviewCache } from './review-cache.ts';
import { review } from './review-call.ts';
import type { User } from './token-file.ts';

/** Bearer tokens that the API server knows the users of (TokenReview), asked again after a time. */
export class TokenReviews {
  readonly #client: KubeClient;
  readonly #keepMs: number;
  readonly #cache = new ReviewCache<User | undefined>(MAX_REVIEWED_TOKENS);
  /** Tokens are not kept, only what nobody else can make of them. */
  readonly #secret = randomBytes(32);

  constructor(client: KubeClient, keepMs: number) {
    this.#client = client;
    this.#keepMs = keepMs;
  }

  /** Whose token this is, `undefined` for nobody's. Rejects if the API server cannot be asked, or answers nonsense. */
  async userOf(token: string): Promise<User | undefined> {
    if (token.length > MAX_REVIEWED_TOKEN_LENGTH) return undefined;
    const key = createHmac('sha256', this.#secret).update(token).digest('base64');
    return this.#cache.answer(key, async () => {
      const status = await review(this.#client, TOKEN_REVIEWS, { token }).catch((error: unknown) => {
        // a server may say again what it was asked
        throw new PodwrightError(errorCode(error), errorMessage(error).replaceAll(token, '…'));
      });
      return { value: reviewedUser(status), keepMs: this.#keepMs };
    });
  }
}

/** The user of a review's status; `internal` for one that says yes without saying whom. Pure. */
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
  if (!isUser)
    throw new PodwrightError('internal', 'review a bearer token: the API server answered with no proper user');
  return { name: username, uid, groups: groups ?? [], extra } as User;
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isExtra = (value: unknown): value is Record<string, string[]> =>
  isRecord(value) && Object.values(value).every(isStrings);
