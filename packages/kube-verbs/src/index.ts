export type { ApiObject, ApiPort, ApiRequest, WatchedChange } from './api-port.ts';
export { describeObject, readRelated } from './describe/describe.ts';
export { discoverKinds, kindsOf } from './kinds/discovery.ts';
export { pathOf, qualifiedName, type ResourceKind } from './kinds/resource-kind.ts';
export { podsOf } from './pods/owned-pods.ts';
export type { PodPurpose } from './pods/pod-order.ts';
export { podPortText } from './pods/service-ports.ts';
export type { Service } from './service.ts';
export { type ServerTable, TABLE, type TableColumn, type TableRow, tableOf } from './tables/server-table.ts';
