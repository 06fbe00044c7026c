import type { Finding } from '../causes/finding.ts';
import type { Subject } from '../view-reader.ts';

/** A sentence about one of the objects in an explanation's chain. */
export type Link = { subject: Subject; sentence: string };

/** Why an object is or is not ready. `chain` leads from the object named by the user to the object with the cause. */
export type Explanation = {
  isWell: boolean;
  chain: Link[];
  /** The cause; undefined if there is no problem. Its sentence is the last one of the chain. */
  finding?: Finding;
  /** The last change to the workload's pod template (such as a new image) or to a ConfigMap, if it might have caused the problem. */
  change?: string;
  /** Time of `change` (RFC 3339). */
  changedAt?: string;
};

/** A description of a change, and its time (RFC 3339). */
export type Change = { at: string; text: string };

/** Adds a change to the explanation, unless the explanation already has a later one. */
export function withChange(explanation: Explanation, change: Change | undefined): Explanation {
  const { changedAt = '' } = explanation;
  if (change === undefined || Date.parse(changedAt) > Date.parse(change.at)) return explanation;
  return { ...explanation, change: change.text, changedAt: change.at };
}

/**
 * Returns an explanation that starts with a sentence about an object and continues with the explanation of an object that it owns or
 * selects.
 */
export function under(subject: Subject, sentence: string, below: Explanation): Explanation {
  return { ...below, chain: [{ subject, sentence }, ...below.chain] };
}

/** Returns the explanation of an object that has no problem. */
export const well = (subject: Subject, sentence: string): Explanation => ({
  isWell: true,
  chain: [{ subject, sentence }],
});

/** Returns the explanation of an object that itself has the problem. */
export const caused = (subject: Subject, finding: Finding): Explanation => ({
  isWell: false,
  chain: [{ subject, sentence: finding.sentence }],
  finding,
});

export const subjectOf = (
  kind: string,
  { metadata }: { metadata: { namespace?: string; name?: string } },
): Subject => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});
