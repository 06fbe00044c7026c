/** Parses and validates the parameters of list and watch requests. */
import type { ResourceKind } from './resource-kinds.ts';
import { fieldPredicate, labelPredicate, type Predicate } from './selectors.ts';
import { badRequest, invalid, type StatusCause } from './status-error.ts';

export type ListOptions = {
  matches: Predicate;
  hasSelector: boolean;
  resourceVersion: string;
  resourceVersionMatch: string;
  sendInitialEvents: boolean | undefined;
  allowWatchBookmarks: boolean;
  timeoutSeconds: number | undefined;
  limit: number;
  continue: string;
  isWatch: boolean;
};

const flag = (text: string | null): boolean | undefined =>
  text === null || text === '' ? undefined : text === '1' || text === 'true';

export function readListOptions(kind: ResourceKind, query: URLSearchParams): ListOptions {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  const byLabel = labelPredicate(labels);
  const byField = fieldPredicate(kind, fields);
  const timeout = query.get('timeoutSeconds');
  const options: ListOptions = {
    matches: (object) => byField(object) && byLabel(object),
    hasSelector: labels !== '' || fields !== '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    sendInitialEvents: flag(query.get('sendInitialEvents')),
    allowWatchBookmarks: flag(query.get('allowWatchBookmarks')) ?? false,
    timeoutSeconds: timeout === null || timeout === '' ? undefined : Number(timeout),
    limit: Number(query.get('limit') ?? 0),
    continue: query.get('continue') ?? '',
    isWatch: flag(query.get('watch')) ?? false,
  };
  const causes = wrongOptions(options);
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
  return options;
}

const forbidden = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
});

function wrongOptions({ isWatch, resourceVersion, resourceVersionMatch: match, sendInitialEvents }: ListOptions) {
  const causes: StatusCause[] = [];
  if (sendInitialEvents !== undefined && match === '')
    causes.push(
      forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  if (sendInitialEvents !== undefined && !isWatch)
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (match === '') return causes;
  if (isWatch && sendInitialEvents === undefined)
    causes.push(
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  if (!isWatch && resourceVersion === '')
    causes.push(
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  if (match === 'Exact' && resourceVersion === '0')
    causes.push(forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  return causes;
}

/** The version as a number; 0 if empty. */
export function versionNumber(text: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text))
    throw badRequest(
      `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
}
