export { type AcceptClause, accepts, parseAccept } from './accept.ts';
export { ApiPaths } from './api-paths.ts';
export { deprecationWarning } from './discovery/deprecation.ts';
export { isServedByDefault } from './discovery/group-versions.ts';
export { type FailedCheck, Health, type HealthCheck, type HealthChecks } from './discovery/health.ts';
export { type PathRequest, type PathResponse, textResponse, unknownPath } from './http-answer.ts';
