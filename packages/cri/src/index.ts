export type { CriApiVersion } from './api-version.ts';
export { type ConnectOptions, type CriClient, connectCri } from './client/connect.ts';
export {
  absolutePath,
  givenId,
  idOf,
  invalid,
  matchesLabels,
  numberWithin,
  plainText,
} from './handling/field-checks.ts';
export { isPinnedForUsers, LOADED_ANNOTATION } from './handling/loaded-image.ts';
export { measureEach } from './handling/measure-each.ts';
export { outputLimitOf, withOutputLimit } from './handling/output-limit.ts';
export { messagePages, pages, verboseInfo } from './handling/responses.ts';
export { type SecurityProfileChoice, securityProfile } from './handling/security-profile.ts';
export { criSignal, signalName } from './handling/signals.ts';
export {
  containerStatsMessage,
  type MeasuredContainer,
  type MeasuredSandbox,
  reportedLayerChanges,
  sandboxStatsMessage,
} from './handling/statistics.ts';
export * from './messages.ts';
export { parseCollectorEndpoint } from './otlp/collector-endpoint.ts';
export { createSpanExporter, noSpanExporter, type SpanExporter } from './otlp/span-exporter.ts';
export {
  fitExecOutput,
  MAX_EXEC_OUTPUT_BYTES,
  MAX_EXEC_OUTPUT_TOTAL_BYTES,
  requireCommand,
  requireStreams,
} from './server/command-requests.ts';
export { type CriServerOptions, createCriServer } from './server/create-server.ts';
export type { ImageHandlers, RuntimeHandlers } from './server/handlers.ts';
export { traces } from './server/traces.ts';
