import type { Authorizer, RuleResolver } from './authorizer.ts';

/** Returns the verdict of the first authorizer with an opinion. If there is none, joins the reasons of all authorizers, one per line. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes) {
      const reasons: string[] = [];
      for (const authorizer of authorizers) {
        const verdict = authorizer.authorize(attributes);
        if (verdict.decision !== 'no opinion') return verdict;
        if (verdict.reason !== '') reasons.push(verdict.reason);
      }
      return { decision: 'no opinion', reason: reasons.join('\n') };
    },
  };
}

/** Concatenates the rules of all resolvers. */
export function unionRuleResolver(resolvers: readonly RuleResolver[]): RuleResolver {
  return {
    rulesFor(user, namespace) {
      const resolved = resolvers.map((resolver) => resolver.rulesFor(user, namespace));
      return {
        rules: resolved.flatMap(({ rules }) => rules),
        isIncomplete: resolved.some(({ isIncomplete }) => isIncomplete),
        errors: resolved.flatMap(({ errors }) => errors),
      };
    },
  };
}
