import type { Finding } from '../causes/finding.ts';
import type { Subject } from '../view-reader.ts';

/** A sentence about one object of a chain. */
export type Link = { subject: Subject; sentence: string };

/** Why an object is or is not ready. The chain leads from the object that was asked about to the cause. */
export type Explanation = {
  isWell: boolean;
  chain: Link[];
  /** The cause; undefined if nothing is wrong. Its sentence is the last one of the chain. */
  finding?: Finding;
  /** The change that came before the trouble, if there was one, such as a new image. */
  change?: string;
};

/** An explanation that puts a sentence about an object before that of an object below it. */
export function under(subject: Subject, sentence: string, below: Explanation): Explanation {
  return { ...below, chain: [{ subject, sentence }, ...below.chain] };
}

export const well = (subject: Subject, sentence: string): Explanation => ({
  isWell: true,
  chain: [{ subject, sentence }],
});

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
