/** The commands `expose`, `create job` and `autoscale`, which create an object, usually based on an existing one. */
import { PodwrightError } from '@podwright/base';
import { pathOf } from '@podwright/kube-api';
import {
  type ApiObject,
  type ApiPort,
  type AutoscalerOptions,
  autoscalerOf,
  type ExposeOptions,
  jobOfCronJob,
  jobOfImage,
  serviceOf,
  type Target,
  type Workload,
} from '@podwright/kube-verbs';
import { apiTargets, requireApi } from '../client/api-targets.ts';
import { isTable, type ObjectFormat, printValue } from '../output/object-format.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { printName } from './object-printer.ts';

export type CreateOptions = { namespace: string; dryRun?: string | boolean; output: ObjectFormat };

const SERVICES = { group: '', version: 'v1', plural: 'services', namespaced: true };
const JOBS = { group: 'batch', version: 'v1', plural: 'jobs', namespaced: true };
const AUTOSCALERS = { group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers', namespaced: true };

/** The API collection in which to create an object, the object's name, and kubectl's message for a created object. */
type Making = { collection: typeof SERVICES; name: string; done: string };

/** Creates the object, except in a dry run. Prints the object in the selected format or, by default, a line saying that it was created. */
async function create(
  api: ApiPort,
  object: ApiObject,
  { making, options }: { making: Making; options: CreateOptions },
): Promise<void> {
  const { dryRun, output } = options;
  const isServerRun = dryRun === 'server';
  const isDry = dryRun !== undefined && dryRun !== false && dryRun !== 'none';
  const path = pathOf(making.collection, { namespace: options.namespace });
  const query = { dryRun: isServerRun ? 'All' : undefined };
  const made =
    isDry && !isServerRun ? object : ((await api.call({ method: 'POST', path, query, body: object })) as ApiObject);
  if (output.type === 'name') return printName(made as Parameters<typeof printName>[0]);
  if (!isTable(output)) return printValue(output, made);
  const mark = isDry ? ` (${isServerRun ? 'server dry run' : 'dry run'})` : '';
  print(`${making.name}/${object.metadata.name} ${making.done}${mark}`);
}

async function onlyTarget(
  api: ApiPort,
  words: string[],
  options: { namespace: string; verb: string },
): Promise<Target> {
  const [target, ...more] = await apiTargets(api, words, options);
  if (target !== undefined && more.length === 0) return target;
  throw new PodwrightError('invalid_argument', `${options.verb}: name one object, as TYPE/NAME`);
}

/** `podwright expose TYPE/NAME --port=PORT`: creates a Service for the pods of an object. */
export async function expose(
  { config }: CommandContext,
  words: string[],
  { namespace, dryRun, output, ...options }: CreateOptions & ExposeOptions,
): Promise<void> {
  const api = await requireApi(config.apiSocket, 'expose');
  const { object } = await onlyTarget(api, words, { namespace, verb: 'expose' });
  const service = serviceOf(object, options) as ApiObject;
  const making = { collection: SERVICES, name: 'service', done: 'exposed' };
  await create(api, service, { making, options: { namespace, dryRun, output } });
}

/** `podwright create job NAME --from=cronjob/X`, or `--image=IMAGE -- COMMAND`: creates a Job. */
export async function createJob(
  { config }: CommandContext,
  { name, command }: { name: string; command: string[] },
  { from, image, ...options }: CreateOptions & { from?: string; image?: string },
): Promise<void> {
  if ((from === undefined) === (image === undefined))
    throw new PodwrightError('invalid_argument', 'create job: either --image or --from must be specified');
  const api = await requireApi(config.apiSocket, 'create job');
  const { namespace } = options;
  const job =
    from === undefined
      ? jobOfImage(name, { namespace, image: image!, command })
      : await jobFrom(api, name, { from, namespace });
  await create(api, job as ApiObject, { making: { collection: JOBS, name: 'job.batch', done: 'created' }, options });
}

async function jobFrom(
  api: ApiPort,
  name: string,
  { from, namespace }: { from: string; namespace: string },
): Promise<Workload> {
  const { object } = await onlyTarget(api, [from], { namespace, verb: 'create job' });
  if (object.kind === 'CronJob') return jobOfCronJob(name, object as Workload);
  throw new PodwrightError('invalid_argument', `create job: --from must be an existing cronjob, not a ${object.kind}`);
}

/** `podwright autoscale TYPE/NAME --max=N`: creates a HorizontalPodAutoscaler. */
export async function autoscale(
  { config }: CommandContext,
  words: string[],
  { namespace, dryRun, output, ...options }: CreateOptions & AutoscalerOptions,
): Promise<void> {
  const api = await requireApi(config.apiSocket, 'autoscale');
  const target = await onlyTarget(api, words, { namespace, verb: 'autoscale' });
  const making = { collection: AUTOSCALERS, name: 'horizontalpodautoscaler.autoscaling', done: 'autoscaled' };
  await create(api, autoscalerOf(target, options), { making, options: { namespace, dryRun, output } });
}
