import { describePodTemplate } from '../describe/pod-template.ts';
import { refused, type Target, targetName } from '../target.ts';
import { align, Lines } from '../text/aligned.ts';
import type { Revision } from './revisions.ts';

/** Formats the list of revisions, or the pod template of one of them, like `kubectl rollout history`. */
export function historyText(target: Target, revisions: readonly Revision[], wanted = 0): string {
  const name = targetName(target);
  if (wanted > 0) {
    const revision = revisions.find(({ number }) => number === wanted);
    if (revision === undefined) throw refused('unable to find the specified revision');
    return `${name} with revision #${wanted}\n${templateText(revision)}\n`;
  }
  if (revisions.length === 0) return `${name} No rollout history found.`;
  const rows = revisions.map(({ number, changeCause }) => `${number}\t${changeCause || '<none>'}`);
  return [`${name} `, ...align(['REVISION\tCHANGE-CAUSE', ...rows]), ''].join('\n');
}

function templateText({ template, changeCause }: Revision): string {
  const { metadata = {} } = template;
  const annotations =
    changeCause === '' ? metadata.annotations : { ...metadata.annotations, 'kubernetes.io/change-cause': changeCause };
  const lines = new Lines();
  describePodTemplate(lines, { ...template, metadata: { ...metadata, annotations } });
  return lines.unaligned();
}
