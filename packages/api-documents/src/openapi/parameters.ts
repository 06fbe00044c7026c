/** Parameters of operations. Their descriptions are written for this project rather than copied from upstream. */
import type { Field } from '@podwright/kube-schema';

export type Parameter = {
  name: string;
  in: 'query' | 'path';
  type: 'string' | 'integer' | 'boolean';
  description: string;
};

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
});

const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description });

export const PRETTY = query('pretty', 'string', 'Whether to indent the JSON of the response.');
export const NAMESPACE = path('namespace', 'The namespace of the object.');
export const PROXY_PATH = path('path', 'The path of the request that is passed on.');
export const nameParameter = (kind: string): Parameter => path('name', `The name of the ${kind}.`);

const DRY_RUN = query('dryRun', 'string', 'All: check the request and respond to it, but store nothing.');
const CONTINUE = query(
  'continue',
  'string',
  'The token of the previous response, to get the next part of a long list.',
);
const SELECTION = [
  query('fieldSelector', 'string', 'Selects objects by values of fields, such as metadata.name=web.'),
  query('labelSelector', 'string', 'Selects objects by labels, such as app=web,tier!=cache.'),
  query('limit', 'integer', 'The greatest number of objects in the response; more can be had with continue.'),
  query(
    'resourceVersion',
    'string',
    'The version of the data that the response must have, or after which a watch begins.',
  ),
  query('resourceVersionMatch', 'string', 'How resourceVersion applies to a list: Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with events for all existing objects.'),
  query('timeoutSeconds', 'integer', 'The longest duration of the request in seconds.'),
];

export const LIST: readonly Parameter[] = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'Whether a watch may send events of type BOOKMARK, which have only a version.',
  ),
  CONTINUE,
  ...SELECTION,
  query('watch', 'boolean', 'Respond with a stream of changes instead of a list.'),
];

export const WRITE: readonly Parameter[] = [
  DRY_RUN,
  query('fieldManager', 'string', 'The name of the program or user that changes the fields.'),
  query('fieldValidation', 'string', 'What to do about unknown and duplicate fields: Ignore, Warn or Strict.'),
];

export const PATCH: readonly Parameter[] = [
  ...WRITE,
  query('force', 'boolean', 'Whether server-side apply takes fields over from other managers.'),
];

export const DELETE: readonly Parameter[] = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'Time in seconds that the object has to end; 0 deletes it at once.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What happens to dependents: Orphan, Background or Foreground.'),
];

export const DELETE_COLLECTION: readonly Parameter[] = [...DELETE, CONTINUE, ...SELECTION];

const OPTION_TYPES: Readonly<Record<string, Parameter['type']>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
};

const OPTIONS: Readonly<Record<string, string>> = {
  command: 'The program to run and its arguments, one for each parameter.',
  container: 'The name of the container; it may be left out in a pod with one container.',
  follow: 'Whether to send new lines until the container ends.',
  insecureSkipTLSVerifyBackend: "Whether to accept any certificate of the node's kubelet.",
  limitBytes: 'The greatest number of bytes to send.',
  path: 'The path of the request that is passed on.',
  ports: 'The ports to forward.',
  previous: 'Whether to read the log of the container before its last restart.',
  sinceSeconds: 'Send only lines of this many last seconds.',
  stderr: 'Whether to pass on the standard error.',
  stdin: 'Whether to pass on the standard input.',
  stdout: 'Whether to pass on the standard output.',
  stream: 'Which output to send: All, Stdout or Stderr.',
  tailLines: 'Send only this many last lines.',
  timestamps: 'Whether each line begins with its time.',
  tty: 'Whether the program gets a terminal.',
};

/** Returns the parameters of a subresource that takes its options, such as PodLogOptions, from the query string. */
export function optionParameters(fields: Iterable<Field>): Parameter[] {
  return [...fields].flatMap(({ name, type }) => {
    const of = name === 'kind' || name === 'apiVersion' ? undefined : OPTION_TYPES[type];
    return of === undefined ? [] : [query(name, of, OPTIONS[name] ?? '')];
  });
}
