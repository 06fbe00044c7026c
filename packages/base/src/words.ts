import { errorMessage } from './errors.ts';

/** Formats a count with its noun: `1 pod`, `2 pods`. `plural` is for irregular plurals. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Number of ID digits to show, as in crictl. Commands accept such a prefix wherever they accept an ID. */
const SHOWN_DIGITS = 13;

/** Returns an error's message for display, with container and sandbox IDs shortened; digests are left unchanged. */
export function shownError(error: unknown): string {
  return errorMessage(error).replaceAll(IDS, (id) => id.slice(0, SHOWN_DIGITS));
}

/** Returns an error's message without IDs, which differ between attempts, so that repeated events have the same text. */
export function repeatedError(error: unknown): string {
  return errorMessage(error)
    .replaceAll(/ (["']?)(?<![:@])[0-9a-f]{64}\1(?!\w)/g, '')
    .replaceAll(IDS, '…');
}

const IDS = /(?<![\w:@])[0-9a-f]{64}(?!\w)/g;
