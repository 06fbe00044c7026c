/** Opens the API server's store and everything that controls reads and writes of its objects. */
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { policyStrategies } from '@podwright/admission-policies/plugins';
import { webhookPlugins, webhookStrategies } from '@podwright/admission-webhooks/plugins';
import {
  type Admission,
  type Allocate,
  claimStrategies,
  type Durability,
  openSqliteStore,
  Registries,
  type SqliteStore,
  STORE_INDEXES,
} from '@podwright/api-machinery';
import { errorMessage, type Logger, type Registry, type Undo } from '@podwright/base';
import { type ApiObject, CONVERSIONS, STRATEGIES } from '@podwright/kube-kinds';
import { type Resource, Schema } from '@podwright/kube-schema';
import { type Access, openAccess } from './access.ts';
import { defaultAdmission } from './admission/default-plugins.ts';
import { apiServiceStrategies } from './api-service-strategies.ts';
import { callerOf } from './authorization/known-users.ts';
import { ensureBaseObjects } from './base-objects.ts';
import { CustomKinds, DEFINITIONS } from './custom-kinds.ts';
import { servedResources } from './served-resources.ts';
import { AddressRange } from './services/address-range.ts';
import { ServiceAllocator } from './services/service-allocator.ts';

/** Resources that are only kept in memory, because their objects are numerous and short-lived. */
const VOLATILE = ['events', 'leases.coordination.k8s.io'];

/**
 * Maximum size of an object as JSON; same as for request bodies. Objects that upstream can store (up to 1.5 MiB as protobuf) do not exceed
 * it.
 */
const MAX_OBJECT_BYTES = 3 << 20;

/** Maximum total size of stored objects, which are all held in memory. The limit is lower on hosts with little memory. */
const MAX_BYTES = 512 << 20;
const SHARE_OF_MEMORY = 8;
const FULL = 'the API has no space for further objects: delete some, or raise max_objects_size in the table api';

const SERVICE_RANGE = '10.96.0.0/12';

export type ObjectsOptions = {
  directory: string;
  /** The range of cluster IPs, or one per IP family, separated by a comma. Default: 10.96.0.0/12. */
  serviceRange?: string;
  durability?: Durability;
  /** Maximum total size of objects. Default: an eighth of the host's memory, up to 512 MiB. */
  maxBytes?: number;
  logger: Pick<Logger, 'warn'>;
  /** Registry for the metrics of webhook calls. */
  metrics: Registry;
  now: () => number;
};

export type ServerObjects = {
  schema: Schema;
  store: SqliteStore;
  access: Access;
  admission: Admission;
  registries: Registries;
  custom: CustomKinds;
  /** The cluster IP of the Service `kubernetes`. */
  clusterIp: string;
};

/** Opens the store and creates the objects that every API server has. `undo` closes the store. */
export async function openObjects(options: ObjectsOptions, undo: Undo): Promise<ServerObjects> {
  const { directory, serviceRange = SERVICE_RANGE, durability, logger, metrics, now } = options;
  const { maxBytes = Math.min(MAX_BYTES, Math.floor(totalmem() / SHARE_OF_MEMORY)) } = options;
  const schema = await Schema.load();
  const path = join(directory, 'objects.db');
  const onFull = (sizes: { bytes: number; maxBytes: number }) => logger.warn(sizes, FULL);
  const space = { maxObjectBytes: MAX_OBJECT_BYTES, maxBytes, onFull };
  const onSyncFailed = (error: Error) => logger.warn({ error: errorMessage(error) }, 'the API accepts no more writes');
  const bounds = { durability, space, onSyncFailed };
  const store = openSqliteStore(path, { indexes: STORE_INDEXES, volatile: VOLATILE, ...bounds });
  undo.add('close the store', () => store.close());
  const access = await openAccess({ directory, store, now });
  const served = new Set(servedResources(schema));
  const isServed = (resource: Resource) => resource.isCustom === true || served.has(resource);
  const { authorizer, escalation } = access;
  const versioned = (resource: Resource, object: ApiObject) => registries.for(resource).fromStored(object);
  const parts = { store, schema, authorizer, isServed, versioned, metrics };
  const webhooks = webhookPlugins({ ...parts, callerOf, logger }, undo);
  const admission = defaultAdmission({ ...parts, now, escalation, webhooks });
  const ranges = AddressRange.list(serviceRange);
  const services = new ServiceAllocator(store, ranges);
  const allocations: Record<string, Allocate> = { services: (object, old) => services.allocate(object, old) };
  const custom = new CustomKinds(schema, store);
  const strategies = {
    ...STRATEGIES,
    ...claimStrategies(store),
    ...apiServiceStrategies([...served]),
    [DEFINITIONS]: custom.definitionStrategy(now),
    ...policyStrategies(),
    ...webhookStrategies(),
  };
  const kinds = { strategies, conversions: CONVERSIONS, customRules: custom.rulesOf };
  const registries: Registries = new Registries({ schema, ...kinds, store, admission, allocations });
  await custom.open();
  await ensureBaseObjects({ schema, registries, store, nowMs: now() });
  return { schema, store, access, admission, registries, custom, clusterIp: ranges[0].first };
}
