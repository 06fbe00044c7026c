import { createHash } from 'node:crypto';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { type KubeClient, SUBJECT_ACCESS_REVIEWS } from '@podwright/kube-client';
import { type Refusal, refusal } from './api-route.ts';
import { MAX_ACCESS_REVIEWS } from './limits.ts';
import { type RequestAttributes, requestAttributes } from './request-attributes.ts';
import { ReviewCache } from './review-cache.ts';
import { review } from './review-call.ts';
import type { User } from './token-file.ts';

/** Authorizes a request. Returns an error response, or `undefined` if the request is allowed. */
export type Authorizer = (
  user: User,
  request: { method?: string; path: string | undefined },
) => Promise<Refusal | undefined>;

export type AccessReviewParts = {
  client: KubeClient;
  nodeName: string;
  /** How long to cache a review's result that allows the request (`allowedMs`) or denies it (`deniedMs`); authorization.webhook's TTLs. */
  allowedMs: number;
  deniedMs: number;
  logger: Logger;
};

/** Returns an authorizer that sends SubjectAccessReviews. Refusals use upstream's wording. */
export function accessReviewer(parts: AccessReviewParts): Authorizer {
  const cache = new ReviewCache<boolean>(MAX_ACCESS_REVIEWS);
  return async (user, { method, path }) => {
    const attributes = requestAttributes(method, path);
    const { verb, subresources } = attributes;
    for (const subresource of subresources) {
      try {
        if (await isAllowed(parts, cache, specOf(user, { verb, subresource, name: parts.nodeName }))) return undefined;
      } catch (error) {
        const words = `user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}`;
        parts.logger.error({ user: user.name, verb, subresource, error: errorMessage(error) }, 'Authorization error');
        return refusal(500, `Authorization error (${words})`);
      }
    }
    return refusal(403, forbiddenWords(user, attributes));
  };
}

const forbiddenWords = ({ name }: User, { verb, subresources }: RequestAttributes) =>
  `Forbidden (user=${name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;

type Asked = { verb: string; subresource: string; name: string };

function specOf({ name: user, uid, groups, extra }: User, asked: Asked): object {
  return {
    resourceAttributes: { ...asked, version: 'v1', resource: 'nodes' },
    user,
    groups,
    ...(extra === undefined ? {} : { extra }),
    ...(uid ? { uid } : {}),
  };
}

function isAllowed(
  { client, allowedMs, deniedMs }: AccessReviewParts,
  cache: ReviewCache<boolean>,
  spec: object,
): Promise<boolean> {
  const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
  return cache.answer(key, async () => {
    const value = reviewedAccess(await review(client, SUBJECT_ACCESS_REVIEWS, spec));
    return { value, keepMs: value ? allowedMs : deniedMs };
  });
}

/**
 * Returns whether a SubjectAccessReview's status allows the request. Throws `internal` if the status is contradictory or malformed. Pure.
 */
export function reviewedAccess(status: unknown): boolean {
  const { allowed, denied } = (status ?? {}) as { allowed?: unknown; denied?: unknown };
  if (typeof allowed === 'boolean' && !(allowed && denied)) return allowed;
  throw new PodwrightError('internal', 'review access: the API server returned no valid decision');
}
