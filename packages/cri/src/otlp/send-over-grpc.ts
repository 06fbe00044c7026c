import { fromJson } from '@bufbuild/protobuf';
import type { Span } from '@podwright/base';
import { Connection, createServiceClient, type Endpoint } from '@podwright/grpc';
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { otlpRequest, type SpanResource } from './otlp-request.ts';

/** Creates a client that sends spans to a collector over OTLP/gRPC. Like the upstream kubelet, it does not use TLS. */
export function grpcCollector(endpoint: Endpoint) {
  const observer = { started: () => () => undefined };
  const connection = new Connection(endpoint, { observer });
  const service = createServiceClient(TraceService, connection);
  return {
    send: async ({
      spans,
      resource,
      signal,
    }: {
      spans: readonly Span[];
      resource: SpanResource;
      signal: AbortSignal;
    }) => {
      const encodeId = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
      await service.export(fromJson(ExportTraceServiceRequestSchema, otlpRequest(spans, resource, encodeId)), {
        signal,
      });
    },
    close: () => connection.close(),
  };
}
