export { type AggregatedRules, planAggregation } from './authorization/aggregation.ts';
export type {
  AuthorizationAttributes,
  Authorizer,
  Decision,
  PolicyRule,
  ResolvedRules,
  RuleResolver,
  Verdict,
} from './authorization/authorizer.ts';
export { type BootstrapPolicy, bootstrapPolicy } from './authorization/bootstrap/bootstrap-policy.ts';
export { ensurePolicy, type PolicyWriter } from './authorization/bootstrap/ensure-policy.ts';
export {
  EscalationCheck,
  type EscalationCheckParts,
  type RbacRefusal,
  type RbacWrite,
} from './authorization/escalation-check.ts';
export { forbiddenMessage } from './authorization/forbidden-message.ts';
export { privilegedGroups } from './authorization/privileged-groups.ts';
export { RbacAuthorizer } from './authorization/rbac-authorizer.ts';
export type { LabelSelector, Role, RoleBinding, RoleRef, Subject } from './authorization/rbac-objects.ts';
export type { AppliedBinding, RbacSource } from './authorization/rbac-source.ts';
export { type RulesReviewStatus, rulesReviewStatus } from './authorization/rules-review.ts';
export { StoreRbacSource } from './authorization/store-rbac-source.ts';
export { unionAuthorizer, unionRuleResolver } from './authorization/union.ts';
export type { LocalKubelet } from './backends/local-node-connector.ts';
export { CLIENT_CERTIFICATE_LIFE_MS } from './certificates/certificate-authority.ts';
export type { ImportSource } from './import-objects.ts';
export { issueKubeconfig } from './issue-kubeconfig.ts';
export {
  ApiListeners,
  type ApiListenersParts,
  type SecureAddress,
  type ServingCertificate,
} from './server/api-listeners.ts';
export { RequestHandler } from './server/request-handler.ts';
export type { RequestInfo } from './server/request-info.ts';
export type {
  ClientConnection,
  PathDocuments,
  ResourceRequest,
  ServedResource,
  ServerParts,
  SubresourceHandler,
} from './server/server-parts.ts';
export { type ApiServer, type ApiServerOptions, startApiServer } from './start-api-server.ts';
export { EventEncoder, type OutputEvent } from './wire/encode-event.ts';
export type { ListParameters } from './wire/list-options.ts';
export { ResponseWriter } from './wire/response-writer.ts';
