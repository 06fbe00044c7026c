/** The selector and labels that the server generates for Jobs. */
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import { matchesSelector } from '../labels.ts';
import { isUsableSelector, shownLabels, shownSelector } from '../selectors.ts';
import { type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';

const JOB_NAME = 'batch.kubernetes.io/job-name';
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const LEGACY_JOB_NAME = 'job-name';
const LEGACY_CONTROLLER_UID = 'controller-uid';

const LABELS = ['spec', 'template', 'metadata', 'labels'];
const SELECTOR = ['spec', 'selector', 'matchLabels'];

const isManual = (job: ApiObject): boolean => valueAt(job, 'spec', 'manualSelector') === true;

/** Returns the Job with its generated selector and pod labels. Labels that the client has set are kept, and validation rejects them. */
export function withGeneratedSelector(job: ApiObject): ApiObject {
  if (isManual(job)) return job;
  const { name = '', uid = '' } = job.metadata;
  const generated = {
    [LEGACY_JOB_NAME]: name,
    [JOB_NAME]: name,
    [LEGACY_CONTROLLER_UID]: uid,
    [CONTROLLER_UID]: uid,
  };
  const labelled = withValue(job, LABELS, { ...generated, ...objectAt(job, ...LABELS) });
  return withValue(withLabelsOfPods(labelled, job), SELECTOR, { [CONTROLLER_UID]: uid, ...objectAt(job, ...SELECTOR) });
}

/** If the Job's own labels are those of its pods by default, they remain so: in upstream, both are the same map. */
const withLabelsOfPods = (labelled: ApiObject, job: ApiObject): ApiObject =>
  job.metadata.labels !== undefined && job.metadata.labels === objectAt(job, ...LABELS)
    ? withValue(labelled, ['metadata', 'labels'], objectAt(labelled, ...LABELS))
    : labelled;

/** Returns true if the Job's pods have the prefixed labels, which those of old Jobs do not have. */
export function hasPrefixedLabels(job: ApiObject): boolean {
  const labels = objectAt(job, ...LABELS) ?? {};
  return Object.hasOwn(labels, JOB_NAME) && Object.hasOwn(labels, CONTROLLER_UID);
}

/** The labels and the selector of a Job without `manualSelector` must be the generated ones (validateGeneratedSelector). */
export function validateGeneratedSelector(job: ApiObject, root: Field, needsPrefixedLabels: boolean): void {
  const selector = objectAt(job, 'spec', 'selector');
  if (isManual(job) || selector === undefined) return;
  const { name = '', uid = '' } = job.metadata;
  if (uid === '') root.at('metadata', 'uid').required();
  const legacy: JsonObject = { [LEGACY_CONTROLLER_UID]: uid, [LEGACY_JOB_NAME]: name };
  const prefixed = { [CONTROLLER_UID]: uid, [JOB_NAME]: name };
  const expected = needsPrefixedLabels ? { ...legacy, ...prefixed } : legacy;
  const labels = objectAt(job, ...LABELS);
  for (const [key, value] of Object.entries(expected)) {
    const at = root.at(...LABELS).key(key);
    if (labels === undefined || !Object.hasOwn(labels, key)) at.required(`must be '${value}'`);
    else if (textAt(labels, key) !== value) at.invalid(shownLabels(labels), `must be '${value}'`);
  }
  if (isUsableSelector(selector) && !matchesSelector(selector, expected))
    root.at('spec', 'selector').invalid(shownSelector(selector), '`selector` not auto-generated');
}
