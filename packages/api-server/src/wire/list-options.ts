/** Parameters of list, watch and delete-collection requests (meta/v1 ListOptions). */
import { type FieldError, forbiddenField, notSupported } from '@podwright/kube-kinds';
import { QueryValues } from './query-values.ts';
import { checkOptions } from './write-options.ts';

export type ListParameters = {
  /** The selectors as sent; the registry parses them. */
  labelSelector: string;
  fieldSelector: string;
  allowWatchBookmarks: boolean;
  /** The resource version as sent; '' if absent. */
  resourceVersion: string;
  resourceVersionMatch: string;
  timeoutSeconds: number | undefined;
  /** Maximum number of objects to return; 0 means no limit. */
  limit: number;
  continue: string;
  sendInitialEvents: boolean | undefined;
};

/**
 * Reads the list parameters. Throws 400 if a number is malformed, and 422 with upstream's field errors. By default, a watch starts with the
 * existing objects; a resource version or `sendInitialEvents` can change that.
 */
export function listParameters(query: URLSearchParams, { isWatch }: { isWatch: boolean }): ListParameters {
  const values = new QueryValues(query);
  const sent = {
    labelSelector: values.text('labelSelector'),
    fieldSelector: values.text('fieldSelector'),
    allowWatchBookmarks: values.flag('allowWatchBookmarks') === true,
    resourceVersion: values.text('resourceVersion'),
    resourceVersionMatch: values.text('resourceVersionMatch'),
    timeoutSeconds: values.integer('timeoutSeconds'),
    limit: values.integer('limit') ?? 0,
    continue: values.text('continue'),
    sendInitialEvents: values.flag('sendInitialEvents'),
  };
  const options = isWatch ? withInitialEvents(sent) : sent;
  checkOptions('ListOptions', isWatch ? watchErrors(options) : listErrors(options));
  return options;
}

function withInitialEvents(sent: ListParameters): ListParameters {
  const isFromNow = ['', '0'].includes(sent.resourceVersion);
  if (!isFromNow || sent.sendInitialEvents !== undefined || sent.resourceVersionMatch !== '') return sent;
  return { ...sent, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

const MATCH = 'resourceVersionMatch';

function listErrors({ resourceVersion, resourceVersionMatch: match, ...options }: ListParameters): FieldError[] {
  const errors: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '')
      errors.push(forbiddenField(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
    if (options.continue !== '') errors.push(forbiddenField(MATCH, `${MATCH} is forbidden when continue is provided`));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0')
      errors.push(forbiddenField(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors({ resourceVersionMatch: match, sendInitialEvents, ...options }: ListParameters): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    errors.push(forbiddenField(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  if (match === '') return errors;
  if (sendInitialEvents === undefined)
    errors.push(forbiddenField(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  if (match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan']));
  if (options.continue !== '') errors.push(forbiddenField(MATCH, `${MATCH} is forbidden when continue is provided`));
  return errors;
}
