import { setTimeout as after } from 'node:timers/promises';
import { ApiError, badRequest, expired } from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { ExpiredRevision } from '../store/store-errors.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import { type Position, readSelected, servedObjects } from './read-selected.ts';
import type { ResourceParts } from './resource-parts.ts';
import { formatContinue, listVersion, parseContinue } from './resource-version.ts';
import { type Selection, selectionOf } from './selection.ts';
import { storeAnswer } from './store-answers.ts';

export type ObjectList = {
  /** The revision as of which the objects are listed. */
  revision: number;
  /** The listed objects, converted to the served version. */
  objects: StoredObject[];
  /** The continue token for the next page; `undefined` on the last page. */
  continue?: string;
  /**
   * The number of objects after this page. `undefined` on the last page, and if selectors may exclude objects, because they are then not
   * counted.
   */
  remainingItemCount?: number;
};

/** How long a list waits for a future resource version, as in upstream. */
const FUTURE_VERSION_WAIT_MS = 3_000;
const POLL_MS = 50;

/** Lists the objects in a namespace, or in all namespaces if `namespace` is ''. Throws `ApiError`. */
export async function listObjects(
  parts: ResourceParts,
  { namespace, options, signal }: { namespace: string; options: ListOptions; signal?: AbortSignal },
): Promise<ObjectList> {
  const selection = selectionOf(parts.kind, namespace, options);
  if (options.continue !== '') return listRest(parts, selection, options);
  const { resourceVersion, resourceVersionMatch: match, limit } = options;
  const version = listVersion(resourceVersion);
  // without a resourceVersionMatch, a list with a limit and a resource version reads exactly that version
  const isExact = version > 0 && (match === 'Exact' || (match === '' && limit > 0));
  if (isExact && version > parts.store.revision) throw tooLargeVersion(version, parts.store);
  await untilVersion(parts, version, signal);
  const position = isExact ? { revision: version } : {};
  try {
    return await page(parts, { selection, limit: resourceVersion === '0' ? 0 : limit, position, turn: options.turn });
  } catch (error) {
    throw storeAnswer(error);
  }
}

/** Returns the page of a list that starts at the request's continue token. */
async function listRest(parts: ResourceParts, selection: Selection, options: ListOptions): Promise<ObjectList> {
  const position = parseContinue(options.continue);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  try {
    return await page(parts, { selection, limit: options.limit, position, turn: options.turn });
  } catch (error) {
    if (error instanceof ExpiredRevision) throw expiredToken(position.after);
    throw storeAnswer(error);
  }
}

type Page = { selection: Selection; limit: number; position: Position; turn: ListOptions['turn'] };

async function page(parts: ResourceParts, { selection, limit, position, turn }: Page): Promise<ObjectList> {
  const most = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  const { revision, objects: matching } = await readSelected(parts, selection, { position, limit: most, turn });
  if (matching.length <= most) return { revision, objects: await servedObjects(parts, matching, { turn }) };
  const objects = matching.slice(0, limit);
  return {
    revision,
    objects: await servedObjects(parts, objects, { turn }),
    continue: formatContinue({ revision, after: objects.at(-1)!.key }),
    ...(selection.isFiltered ? {} : { remainingItemCount: matching.length - limit }),
  };
}

/** Waits until the store reaches a future resource version. Throws if this takes too long. */
export async function untilVersion({ store }: ResourceParts, version: number, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + FUTURE_VERSION_WAIT_MS;
  while (store.revision < version && performance.now() < end) await after(POLL_MS, undefined, { signal });
  if (store.revision < version) throw tooLargeVersion(version, store, 1);
}

function tooLargeVersion(version: number, { revision }: ObjectStore, retryAfterSeconds?: number): ApiError {
  return new ApiError(504, 'Timeout', {
    message: `Timeout: Too large resource version: ${version}, current: ${revision}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/**
 * Returns the error for a continue token with a revision that is no longer in the history. The error contains a new token for continuing
 * with the latest state.
 */
function expiredToken(after: string): ApiError {
  const error = expired(TOO_OLD);
  error.status.metadata.continue = formatContinue({ after });
  return error;
}
