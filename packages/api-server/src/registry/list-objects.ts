import { setTimeout as after } from 'node:timers/promises';
import { ApiError, badRequest, expired } from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { ExpiredRevision } from '../store/store-errors.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ListOptions } from './list-options.ts';
import { type Position, readSelected } from './read-selected.ts';
import type { ResourceParts } from './resource-parts.ts';
import { formatContinue, listVersion, parseContinue } from './resource-version.ts';
import { type Selection, selectionOf } from './selection.ts';
import { storeAnswer } from './store-answers.ts';

export type ObjectList = {
  /** The revision of the listed state. */
  revision: number;
  /** In the served version. */
  objects: StoredObject[];
  /** The token for the next page; undefined on the last page. */
  continue?: string;
  /** Undefined on the last page, and if selectors may exclude objects. */
  remainingItemCount?: number;
};

/** The time that a list waits for a version in the future, as in upstream. */
const FUTURE_VERSION_WAIT_MS = 3_000;
const POLL_MS = 50;

/** Lists the objects of a namespace, or of all if it is ''. Throws `ApiError`. */
export async function listObjects(
  parts: ResourceParts,
  { namespace, options, signal }: { namespace: string; options: ListOptions; signal?: AbortSignal },
): Promise<ObjectList> {
  const selection = selectionOf(parts.kind, namespace, options);
  if (options.continue !== '') return listRest(parts, selection, options);
  const { resourceVersion, resourceVersionMatch: match, limit } = options;
  const version = listVersion(resourceVersion);
  await untilVersion(parts, version, signal);
  // without a match, a limit and a version mean the state at this version
  const isExact = version > 0 && (match === 'Exact' || (match === '' && limit > 0));
  const position = isExact ? { revision: version } : {};
  try {
    return page(parts, { selection, limit: resourceVersion === '0' ? 0 : limit, position });
  } catch (error) {
    throw storeAnswer(error);
  }
}

/** The next page of a list. */
function listRest(parts: ResourceParts, selection: Selection, options: ListOptions): ObjectList {
  const position = parseContinue(options.continue);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  try {
    return page(parts, { selection, limit: options.limit, position });
  } catch (error) {
    if (error instanceof ExpiredRevision) throw expiredToken(position.after);
    throw storeAnswer(error);
  }
}

type Page = { selection: Selection; limit: number; position: Position };

function page(parts: ResourceParts, { selection, limit, position }: Page): ObjectList {
  const { kind } = parts;
  const { revision, objects: matching } = readSelected(parts, selection, position);
  if (limit <= 0 || matching.length <= limit) return { revision, objects: matching.map((one) => kind.served(one)) };
  const objects = matching.slice(0, limit);
  return {
    revision,
    objects: objects.map((one) => kind.served(one)),
    continue: formatContinue({ revision, after: objects.at(-1)!.key }),
    ...(selection.isFiltered ? {} : { remainingItemCount: matching.length - limit }),
  };
}

/** Waits for a version that the store does not have yet. Throws if it does not come soon. */
async function untilVersion({ store }: ResourceParts, version: number, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + FUTURE_VERSION_WAIT_MS;
  while (store.revision < version && performance.now() < end) await after(POLL_MS, undefined, { signal });
  if (store.revision < version) throw tooLargeVersion(version, store);
}

function tooLargeVersion(version: number, { revision }: ObjectStore): ApiError {
  return new ApiError(504, 'Timeout', {
    message: `Timeout: Too large resource version: ${version}, current: ${revision}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The answer to a token whose state is not in the history any more. Its own token continues in the newest state. */
function expiredToken(after: string): ApiError {
  const error = expired(TOO_OLD);
  error.status.metadata.continue = formatContinue({ after });
  return error;
}
