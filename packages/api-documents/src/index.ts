export { type AcceptClause, accepts, parseAccept } from './accept.ts';
export { ApiPaths } from './api-paths.ts';
export { type ApiPriority, priorityOf } from './discovery/api-priorities.ts';
export { deprecationWarning } from './discovery/deprecation.ts';
export { type ExtensionVersion, isServedByDefault } from './discovery/group-versions.ts';
export { type FailedCheck, Health, type HealthCheck, type HealthChecks } from './discovery/health.ts';
export { type PathRequest, type PathResponse, textResponse, unknownPath } from './http-answer.ts';
export { documentBelow } from './openapi/merge-v2.ts';
