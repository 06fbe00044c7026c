import { errorMessage } from './errors.ts';

/** `1 pod`, `2 pods`; `plural` for nouns that do not just take an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Digits of an id that are shown, as crictl shows them; a prefix is taken for an id wherever one is asked for. */
const SHOWN_DIGITS = 13;

/** An error's message for people: ids of containers and sandboxes, which they have seen nowhere, are cut. Digests stay whole. */
export function shownError(error: unknown): string {
  return errorMessage(error).replaceAll(IDS, (id) => id.slice(0, SHOWN_DIGITS));
}

/** The same without ids: each try has another one, and an event that repeats is to read the same each time. */
export function repeatedError(error: unknown): string {
  return errorMessage(error)
    .replaceAll(/ (["']?)(?<![:@])[0-9a-f]{64}\1(?!\w)/g, '')
    .replaceAll(IDS, '…');
}

const IDS = /(?<![\w:@])[0-9a-f]{64}(?!\w)/g;
