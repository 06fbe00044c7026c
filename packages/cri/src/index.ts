export type { CriApiVersion } from './api-version.ts';
export type { ClientTls } from './client/channel.ts';
export { type ConnectOptions, type CriClient, connectCri } from './client/connect.ts';
export { type ConnectedService, connectService } from './client/connect-service.ts';
export type { CallOptions } from './client/connection.ts';
export { decodedList } from './client/decoded-list.ts';
export type { ServiceClient } from './client/service-client.ts';
export { type CriEndpoint, formatEndpoint, parseEndpoint } from './endpoint.ts';
export {
  absolutePath,
  givenId,
  idOf,
  invalid,
  matchesLabels,
  numberWithin,
  plainText,
} from './handling/field-checks.ts';
export { measureEach } from './handling/measure-each.ts';
export { messagePages, pages, verboseInfo } from './handling/responses.ts';
export { type SecurityProfileChoice, securityProfile } from './handling/security-profile.ts';
export { criSignal, signalName } from './handling/signals.ts';
export {
  containerStatsMessage,
  type MeasuredContainer,
  type MeasuredSandbox,
  sandboxStatsMessage,
} from './handling/statistics.ts';
export * from './messages.ts';
export { parseCollectorEndpoint } from './otlp/collector-endpoint.ts';
export { createSpanExporter, noSpanExporter, type SpanExporter } from './otlp/span-exporter.ts';
export { asRpcError, codeName, rpcErrorText, withRpcErrors } from './rpc-error.ts';
export { fitExecOutput, MAX_EXEC_OUTPUT_BYTES, requireCommand, requireStreams } from './server/command-requests.ts';
export { type CriServer, type CriServerOptions, createCriServer, serveServices } from './server/create-server.ts';
export { encodedList } from './server/encoded-list.ts';
export {
  type CallContext,
  type HandledService,
  handleService,
  type ImageHandlers,
  type RuntimeHandlers,
  type ServiceHandlers,
} from './server/handlers.ts';
export type { TcpOptions } from './server/listeners.ts';
export { traces } from './server/traces.ts';
export {
  type GrpcServiceDefinition,
  grpcServiceDefinition,
  type ServiceDefinitionOptions,
} from './service-definition.ts';
