import type { UserInfo } from '@podwright/kube-kinds';
import type { PolicyRule, RuleResolver } from './authorizer.ts';
import { aggregated } from './go-text.ts';
import { isEmpty } from './rule-matching.ts';

type ResourceRule = { verbs: string[]; apiGroups?: string[]; resources?: string[]; resourceNames?: string[] };
type NonResourceRule = { verbs: string[]; nonResourceURLs?: string[] };

/** The status of a SelfSubjectRulesReview. */
export type RulesReviewStatus = {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
  incomplete: boolean;
  evaluationError?: string;
};

/** Returns the SelfSubjectRulesReview status for a user in a namespace, which must not be empty. */
export function rulesReviewStatus(resolver: RuleResolver, user: UserInfo, namespace: string): RulesReviewStatus {
  const { rules, isIncomplete, errors } = resolver.rulesFor(user, namespace);
  return {
    resourceRules: rules.filter(({ resources }) => !isEmpty(resources)).map(resourceRule),
    nonResourceRules: rules.filter(({ nonResourceURLs }) => !isEmpty(nonResourceURLs)).map(nonResourceRule),
    incomplete: isIncomplete,
    ...(errors.length === 0 ? {} : { evaluationError: aggregated(errors) }),
  };
}

const resourceRule = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule): ResourceRule => ({
  verbs,
  ...(isEmpty(apiGroups) ? {} : { apiGroups: apiGroups! }),
  resources: resources!,
  ...(isEmpty(resourceNames) ? {} : { resourceNames: resourceNames! }),
});

const nonResourceRule = ({ verbs, nonResourceURLs }: PolicyRule): NonResourceRule => ({
  verbs,
  nonResourceURLs: nonResourceURLs!,
});
