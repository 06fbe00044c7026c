export type { ApiObject, ApiPort, ApiRequest, WatchedChange } from './api-port.ts';
export { describeObject, readRelated } from './describe/describe.ts';
export { discoverKinds, kindsOf } from './kinds/discovery.ts';
export { pathOf, qualifiedName, type ResourceKind } from './kinds/resource-kind.ts';
export { type ServerTable, TABLE, type TableColumn, type TableRow, tableOf } from './tables/server-table.ts';
