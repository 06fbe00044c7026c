import { PodwrightError } from '@podwright/base';
import type { Endpoint } from '@podwright/grpc';

/** Where spans are sent: to an OTLP/HTTP endpoint (JSON) or an OTLP/gRPC endpoint. */
export type CollectorEndpoint = { kind: 'http'; url: URL } | { kind: 'grpc'; endpoint: Endpoint };

/** The OpenTelemetry collector's default port for OTLP/gRPC. */
const GRPC_PORT = 4317;

/** The default path for traces in OTLP/HTTP (OTLP 1.5, "OTLP/HTTP Request"). */
const TRACES_PATH = '/v1/traces';

/**
 * Parses a collector endpoint. `http://HOST:PORT[/PATH]` and `https://…` select OTLP/HTTP. The forms allowed in KubeletConfiguration's
 * `tracing.endpoint`, which are `HOST:PORT`, `dns:///HOST:PORT` and `unix:///PATH`, select OTLP/gRPC without TLS. Throws `invalid_argument`
 * for anything else.
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
