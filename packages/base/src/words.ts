import { errorMessage } from './errors.ts';

/** A count with its noun: `1 pod`, `2 pods`. `plural` is for nouns whose plural is not formed by adding an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Number of digits of an id to show, as in crictl. Commands accept such a prefix wherever they take an id. */
const SHOWN_DIGITS = 13;

/** An error's message for users. Ids of containers and sandboxes are shortened; digests are not. */
export function shownError(error: unknown): string {
  return errorMessage(error).replaceAll(IDS, (id) => id.slice(0, SHOWN_DIGITS));
}

/** An error's message without ids. Ids differ between attempts, but a repeated event must have the same text each time. */
export function repeatedError(error: unknown): string {
  return errorMessage(error)
    .replaceAll(/ (["']?)(?<![:@])[0-9a-f]{64}\1(?!\w)/g, '')
    .replaceAll(IDS, '…');
}

const IDS = /(?<![\w:@])[0-9a-f]{64}(?!\w)/g;
