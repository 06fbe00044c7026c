/** Configures flow control from the stored FlowSchemas and priority levels, and restores those every cluster has. */
import { type ObjectStore, type RequestContext, type ResourceRegistry, timestamp } from '@podwright/api-machinery';
import { CoalescedWork, errorMessage, type Registry } from '@podwright/base';
import {
  ADJUST_EVERY_MS,
  danglingCondition,
  type FlowCondition,
  FlowControl,
  FlowMetrics,
  flowChanges,
} from '@podwright/flow-control';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';
import { systemContext } from '../system-context.ts';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { repeat } from './repeat.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const SCHEMAS = `flowschemas.${GROUP}`;
const LEVELS = `prioritylevelconfigurations.${GROUP}`;
/** Names of the field managers that upstream's flow control controllers use. */
const PRODUCER = 'api-priority-and-fairness-config-producer-v1';
const CONSUMER = 'api-priority-and-fairness-config-consumer-v1';
/** How often FlowSchemas and priority levels that every cluster has are restored, as in upstream. */
const ENSURE_EVERY_MS = 60_000;

type FlowParts = ControllerParts & { flowControl: FlowControl; now: () => number };

type EnsureParts = {
  store: ObjectStore;
  registryOf: (resource: string) => ResourceRegistry;
  now: () => number;
  /** Whether writes bypass admission, as on server start. Default: false. */
  isAdmitted?: boolean;
};

/** Returns the server's flow control, configured from the stored objects. */
export function openFlowControl(metrics: Registry, store: ObjectStore): FlowControl {
  const flowControl = new FlowControl({ observer: new FlowMetrics(metrics) });
  configureFlows(flowControl, store);
  return flowControl;
}

function configureFlows(flowControl: FlowControl, store: ObjectStore): void {
  const { schemas, levels } = storedFlows(store);
  flowControl.configure(schemas, levels);
}

/** Reconfigures flow control after each change and restores missing objects, until the signal aborts. */
export async function keepFlows(parts: FlowParts): Promise<void> {
  const { flowControl, store, logger } = parts;
  const apply = new CoalescedWork(async () => {
    configureFlows(flowControl, store);
    await setConditions(parts);
  });
  const failed = (error: unknown) => logger.warn({ error: errorMessage(error) }, 'apply FlowSchemas failed');
  const changed = () => void apply.run().catch(failed); // changes during a run share the next one
  const follower = { listed: () => apply.run(), changed };
  const ensure = () => ensureFlows(parts);
  const adjust = async () => flowControl.adjustSeats();
  await Promise.all([
    ...[SCHEMAS, LEVELS].map((resource) => followResource(resource, follower, parts)),
    repeat(adjust, { ...parts, everyMs: ADJUST_EVERY_MS, failure: 'lend seats of priority levels failed' }),
    repeat(ensure, { ...parts, everyMs: ENSURE_EVERY_MS, failure: 'restore FlowSchemas and priority levels failed' }),
  ]);
}

/** Creates, restores and removes FlowSchemas and priority levels as determined by `flowChanges`. */
export async function ensureFlows({ store, registryOf, now, isAdmitted = false }: EnsureParts): Promise<void> {
  const { create, update, remove } = flowChanges(storedFlows(store));
  const context = (): RequestContext => ({ ...systemContext(now(), { manager: PRODUCER }), isAdmitted });
  const registry = ({ kind }: ApiObject) => registryOf(kind === 'FlowSchema' ? SCHEMAS : LEVELS);
  const placeOf = ({ metadata }: ApiObject) => ({ namespace: '', name: metadata.name ?? '' });
  for (const object of create) await registry(object).create('', object, context()).catch(ignoreOvertaken);
  for (const object of update) await registry(object).update(placeOf(object), object, context()).catch(ignoreOvertaken);
  for (const object of remove) await registry(object).delete(placeOf(object), {}, context()).catch(ignoreOvertaken);
}

function storedFlows(store: ObjectStore) {
  const [schemas, levels] = [SCHEMAS, LEVELS].map((resource) =>
    store.list(resource).objects.map((object) => object.decode()),
  ) as [ApiObject[], ApiObject[]];
  return { schemas, levels };
}

/** Sets the condition on each FlowSchema that reports whether its priority level is missing. */
async function setConditions({ store, registryOf, now }: FlowParts): Promise<void> {
  const { schemas, levels } = storedFlows(store);
  const names = new Set(levels.map(({ metadata }) => metadata.name ?? ''));
  for (const schema of schemas) {
    const condition = danglingCondition(schema, names);
    if (condition === undefined) continue;
    const place = { namespace: '', name: schema.metadata.name ?? '' };
    const change = (object: ApiObject) => withCondition(object, condition, now());
    const context = systemContext(now(), { manager: CONSUMER, subresource: 'status' });
    await registryOf(SCHEMAS).change(place, change, context).catch(ignoreOvertaken);
  }
}

function withCondition(schema: ApiObject, condition: FlowCondition, nowMs: number): ApiObject {
  const others = objectsAt(schema, 'status', 'conditions').filter((one) => textAt(one, 'type') !== condition.type);
  const changed = { ...condition, lastTransitionTime: timestamp(nowMs) };
  return { ...schema, status: { conditions: [...others, changed] } };
}
