import { PodwrightError } from '@podwright/base';
import { pathOf, type Resource } from '@podwright/kube-api';
import type { ObjectKey, Selection, WatchOptions } from '../kube-client.ts';

/** Returns the API path of a resource's collection, in one namespace or across all namespaces. */
export function collectionPath(resource: Resource, namespace = ''): string {
  return pathOf(resource, { namespace: namespace && segment('namespace', namespace) });
}

/** Returns the API path of an object or one of its subresources. */
export function objectPath(resource: Resource, { namespace, name }: ObjectKey, subresource?: string): string {
  if (resource.namespaced && !namespace)
    throw new PodwrightError('invalid_argument', `${resource.plural} ${JSON.stringify(name)}: it has no namespace`);
  return pathOf(resource, {
    ...(resource.namespaced ? { namespace: segment('namespace', namespace!) } : {}),
    name: segment('name', name),
    ...(subresource === undefined ? {} : { subresource: segment('subresource', subresource) }),
  });
}

/** Rejects names that would change the request path (apimachinery's IsValidPathSegmentName). Names may come from other users' objects. */
function segment(what: string, text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text))
    throw new PodwrightError('invalid_argument', `${JSON.stringify(text)} is not a valid ${what} of the API`);
  return text;
}

export function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export function selectors({ fieldSelector, labelSelector }: Selection) {
  return { fieldSelector, labelSelector };
}

/** Returns the query string for a watch, with the same parameters as client-go's reflector. */
export function watchQuery(options: WatchOptions): string {
  const { resourceVersion, sendInitialEvents, timeoutSeconds } = options;
  return query({
    ...selectors(options),
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds: Math.ceil(timeoutSeconds),
    ...(sendInitialEvents === true ? { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : {}),
  });
}
