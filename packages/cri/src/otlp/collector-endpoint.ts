import { PodwrightError } from '@podwright/base';
import type { Endpoint } from '@podwright/grpc';

/** The destination of spans: OTLP over HTTP in JSON, or over gRPC. */
export type CollectorEndpoint = { kind: 'http'; url: URL } | { kind: 'grpc'; endpoint: Endpoint };

/** Default port of the OpenTelemetry collector for OTLP over gRPC. */
const GRPC_PORT = 4317;

/** Default path of OTLP over HTTP for traces (OTLP 1.5, "OTLP/HTTP Request"). */
const TRACES_PATH = '/v1/traces';

/**
 * Parses an endpoint. `http://HOST:PORT[/PATH]` and `https://…` mean OTLP over HTTP. The forms of KubeletConfiguration's
 * `tracing.endpoint`, which are `HOST:PORT`, `dns:///HOST:PORT` and `unix:///PATH`, mean OTLP over gRPC without TLS. Throws
 * `invalid_argument` for anything else.
 */
export function parseCollectorEndpoint(text: string): CollectorEndpoint {
  const fail = (why: string) =>
    new PodwrightError(
      'invalid_argument',
      `collector of traces "${text}": ${why}; use http://HOST:PORT, HOST:PORT (gRPC) or unix:///PATH (gRPC)`,
    );
  const scheme = /^([a-z][a-z-]*):\/\//.exec(text)?.[1];
  if (scheme === 'http' || scheme === 'https') {
    if (!URL.canParse(text)) throw fail('it is not a URL');
    const url = new URL(text);
    if (url.pathname === '/') url.pathname = TRACES_PATH;
    return { kind: 'http', url };
  }
  if (scheme === 'unix') {
    const path = text.slice('unix://'.length);
    if (!path.startsWith('/')) throw fail('the path is not absolute');
    return { kind: 'grpc', endpoint: { kind: 'unix', path } };
  }
  if (scheme !== undefined && scheme !== 'dns') throw fail(`the scheme "${scheme}" is not supported`);
  const authority = text.replace(/^dns:\/\/\/?/, '');
  const [, host, port = String(GRPC_PORT)] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (host === undefined) throw fail('it is not a host with a port');
  if (Number(port) === 0 || Number(port) > 65_535) throw fail(`${port} is not a valid port`);
  return { kind: 'grpc', endpoint: { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port: Number(port) } };
}
