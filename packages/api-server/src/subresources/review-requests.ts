/** Reviews: creating one returns a response and stores nothing. */
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { RequestAuthenticator } from '../authentication/request-authenticator.ts';
import { reviewSelf, reviewToken } from '../authentication/reviews.ts';
import { type AccessReviewKind, reviewAccess, reviewRules } from '../authorization/access-reviews.ts';
import type { Authorizer, RuleResolver } from '../authorization/authorizer.ts';
import { authorizeAgain, encodingOf, namespaceOf } from '../server/resource-request.ts';
import type { SubresourceHandler } from '../server/server-parts.ts';
import { readObject } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';

export type ReviewParts = {
  authorizer: Authorizer;
  rules: RuleResolver;
  authenticator: Pick<RequestAuthenticator, 'userOfToken'>;
  audiences: readonly string[];
  now: () => number;
};

type Review = { object: ApiObject; user: UserInfo; namespace: string };

/** Returns the handlers for reviews, by resource. */
export function reviewHandlers(parts: ReviewParts): Map<string, SubresourceHandler> {
  const { authorizer, rules, authenticator, audiences, now } = parts;
  const access = (kind: AccessReviewKind) => (review: Review) => reviewAccess(authorizer, { kind, ...review });
  const answers: Record<string, (review: Review) => ApiObject> = {
    'subjectaccessreviews.authorization.k8s.io': access('SubjectAccessReview'),
    'localsubjectaccessreviews.authorization.k8s.io': access('LocalSubjectAccessReview'),
    'selfsubjectaccessreviews.authorization.k8s.io': access('SelfSubjectAccessReview'),
    'selfsubjectrulesreviews.authorization.k8s.io': ({ object, user }) => reviewRules(rules, object, user),
    'tokenreviews.authentication.k8s.io': ({ object }) =>
      reviewToken(object, (token, requested) => authenticator.userOfToken(token, requested), audiences),
    'selfsubjectreviews.authentication.k8s.io': ({ object, user }) => reviewSelf(object, user, now()),
  };
  return new Map(Object.entries(answers).map(([resource, answer]) => [resource, reviewHandler(answer)]));
}

function reviewHandler(answer: (review: Review) => ApiObject): SubresourceHandler {
  return async (request) => {
    const { exchange, writer, user } = request;
    const encoding = encodingOf(request, negotiateObject(exchange));
    const { fieldValidation } = writeOptions('CreateOptions', exchange.query);
    const sent = await readObject(request, fieldValidation);
    authorizeAgain(request); // the body may have come late
    const namespace = namespaceOf(request);
    const isPlaced = namespace === '' || Boolean(sent.metadata.namespace);
    const object = isPlaced ? sent : { ...sent, metadata: { ...sent.metadata, namespace } };
    await writer.object(201, answer({ object, user, namespace }), encoding);
  };
}
