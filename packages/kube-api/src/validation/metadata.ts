import type { IssueList } from '../issue.ts';
import type { ObjectMeta } from '../objects/types.ts';
import { dnsLabel, dnsSubdomain, labelValue, objectUid, qualifiedName } from './names.ts';

const MAX_ANNOTATION_BYTES = 256 << 10;

/** Validates meta/v1 ObjectMeta. The namespace of cluster-scoped kinds is ''. */
export function validateMeta(metadata: ObjectMeta, issues: IssueList): void {
  dnsSubdomain(metadata.name, issues.at('name'));
  if (metadata.namespace !== '') dnsLabel(metadata.namespace, issues.at('namespace'));
  if (metadata.uid !== '') objectUid(metadata.uid, issues.at('uid'));
  validateLabels(metadata.labels, issues.at('labels'));
  const annotations = Object.entries(metadata.annotations ?? {});
  for (const [key] of annotations) qualifiedName(key.toLowerCase(), issues.at('annotations', key));
  const bytes = annotations.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > MAX_ANNOTATION_BYTES)
    issues.at('annotations').add(`must be at most ${MAX_ANNOTATION_BYTES} bytes together`);
}

/** Validates labels or a label selector. */
export function validateLabels(labels: Record<string, string> | undefined, issues: IssueList): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    qualifiedName(key, issues.at(key));
    labelValue(value, issues.at(key));
  }
}
