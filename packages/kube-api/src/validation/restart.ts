import type { IssueList } from '../issue.ts';
import type { Container, PodSpec } from '../objects/types.ts';
import { each, unique } from './rules.ts';

/** Kubernetes' limits on the number of restart rules, and of exit codes per rule. */
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Validates the restart and resize policies of a regular or init container. */
export function validateRestart(container: Container, spec: PodSpec, issues: IssueList): void {
  validateRestartRules(container, issues);
  const policies = container.resizePolicy ?? [];
  const place = issues.at('resizePolicy');
  unique(policies, ({ resourceName }) => resourceName, { issues: place, field: 'resourceName', what: 'resource' });
  each(policies, place, ({ restartPolicy }, policy) => {
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      policy.at('restartPolicy').add('must be NotRequired while the restartPolicy of the pod is Never');
  });
}

function validateRestartRules({ restartPolicy, restartPolicyRules: rules = [] }: Container, issues: IssueList): void {
  if (rules.length > 0 && restartPolicy === undefined)
    issues.at('restartPolicy').addKey('is required while there are restartPolicyRules');
  const place = issues.at('restartPolicyRules');
  if (rules.length > MAX_RULES) place.add(`must have at most ${MAX_RULES} rules, got ${rules.length}`);
  each(rules, place, ({ exitCodes: { values = [] } }, rule) => {
    if (values.length > MAX_EXIT_CODES)
      rule.at('exitCodes', 'values').add(`must have at most ${MAX_EXIT_CODES} exit codes, got ${values.length}`);
  });
}
