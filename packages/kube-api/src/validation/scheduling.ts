import type { IssueList } from '../issue.ts';
import type {
  LabelSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  TopologySpreadConstraint,
} from '../objects/types.ts';
import { validateLabels } from './metadata.ts';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from './names.ts';
import { each, within } from './rules.ts';

/**
 * Validates a pod's scheduling fields by the API server's rules. On a node that does not serve the Kubernetes API, the pod has already been
 * assigned to its node.
 */
export function validateScheduling(spec: PodSpec, issues: IssueList): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const place = issues.at('affinity');
  if (nodeAffinity !== undefined) {
    const { requiredDuringSchedulingIgnoredDuringExecution: required } = nodeAffinity;
    const terms = place.at('nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
    if (required?.nodeSelectorTerms.length === 0) terms.add('must have at least one term');
    each(required?.nodeSelectorTerms, terms, validateNodeTerm);
    const preferred = place.at('nodeAffinity', 'preferredDuringSchedulingIgnoredDuringExecution');
    each(nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution, preferred, ({ weight, preference }, at) => {
      within(weight, { min: 1, max: 100 }, at.at('weight'));
      validateNodeTerm(preference, at.at('preference'));
    });
  }
  validatePodAffinity(podAffinity, place.at('podAffinity'));
  validatePodAffinity(podAntiAffinity, place.at('podAntiAffinity'));
  validateSpread(spec.topologySpreadConstraints ?? [], issues.at('topologySpreadConstraints'));
  if ((spec.schedulingGates ?? []).length > 0 && !issues.acceptApiField())
    issues.at('schedulingGates').addKey('must be empty: without a Kubernetes API, nothing removes the gates');
}

function validateNodeTerm({ matchExpressions, matchFields }: NodeSelectorTerm, issues: IssueList): void {
  each(matchExpressions, issues.at('matchExpressions'), (requirement, place) => {
    validateRequirement(requirement, place);
    const { operator, values = [] } = requirement;
    if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1)
      place.at('values').addKey(`must have exactly one value while operator is ${operator}`);
  });
  each(matchFields, issues.at('matchFields'), ({ key, operator, values = [] }, place) => {
    if (key !== 'metadata.name') place.at('key').add(`must be metadata.name, got "${key.slice(0, 80)}"`);
    if (operator !== 'In' && operator !== 'NotIn') place.at('operator').add('must be In or NotIn for a field');
    else if (values.length !== 1) place.at('values').addKey('must have exactly one value for a field');
    each(values, place.at('values'), dnsSubdomain);
  });
}

function validateRequirement({ key, operator, values = [] }: NodeSelectorRequirement, issues: IssueList): void {
  qualifiedName(key, issues.at('key'));
  each(values, issues.at('values'), labelValue);
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    issues.at('values').addKey(`must have a value while operator is ${operator}`);
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    issues.at('values').addKey(`must be empty while operator is ${operator}`);
}

function validateSelector(selector: LabelSelector | undefined, issues: IssueList): void {
  validateLabels(selector?.matchLabels, issues.at('matchLabels'));
  each(selector?.matchExpressions, issues.at('matchExpressions'), validateRequirement);
}

function validatePodAffinity(affinity: PodAffinity | undefined, issues: IssueList): void {
  const required = issues.at('requiredDuringSchedulingIgnoredDuringExecution');
  each(affinity?.requiredDuringSchedulingIgnoredDuringExecution, required, validatePodTerm);
  const preferred = issues.at('preferredDuringSchedulingIgnoredDuringExecution');
  each(affinity?.preferredDuringSchedulingIgnoredDuringExecution, preferred, ({ weight, podAffinityTerm }, place) => {
    within(weight, { min: 1, max: 100 }, place.at('weight'));
    validatePodTerm(podAffinityTerm, place.at('podAffinityTerm'));
  });
}

function validatePodTerm(term: PodAffinityTerm, issues: IssueList): void {
  qualifiedName(term.topologyKey, issues.at('topologyKey'));
  validateSelector(term.labelSelector, issues.at('labelSelector'));
  validateSelector(term.namespaceSelector, issues.at('namespaceSelector'));
  each(term.namespaces, issues.at('namespaces'), dnsLabel);
  validateLabelKeys(term.matchLabelKeys, term.labelSelector, issues.at('matchLabelKeys'));
  validateLabelKeys(term.mismatchLabelKeys, term.labelSelector, issues.at('mismatchLabelKeys'));
  each(term.mismatchLabelKeys, issues.at('mismatchLabelKeys'), (key, place) => {
    if (term.matchLabelKeys?.includes(key)) place.add(`"${key}" is in matchLabelKeys already`);
  });
}

function validateLabelKeys(keys: string[] | undefined, selector: LabelSelector | undefined, issues: IssueList): void {
  if (keys !== undefined && keys.length > 0 && selector === undefined)
    issues.addKey('must not be given without labelSelector');
  each(keys, issues, qualifiedName);
}

function validateSpread(constraints: TopologySpreadConstraint[], issues: IssueList): void {
  const seen = new Set<string>();
  each(constraints, issues, (constraint, place) => {
    const { topologyKey, whenUnsatisfiable, minDomains, labelSelector } = constraint;
    within(constraint.maxSkew, { min: 1 }, place.at('maxSkew'));
    within(minDomains, { min: 1 }, place.at('minDomains'));
    qualifiedName(topologyKey, place.at('topologyKey'));
    validateSelector(labelSelector, place.at('labelSelector'));
    validateLabelKeys(constraint.matchLabelKeys, labelSelector, place.at('matchLabelKeys'));
    if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule')
      place.at('minDomains').addKey('must not be given unless whenUnsatisfiable is DoNotSchedule');
    const key = `${topologyKey} ${whenUnsatisfiable}`;
    if (seen.has(key)) place.add(`${topologyKey} with ${whenUnsatisfiable} is defined twice`);
    seen.add(key);
  });
}
