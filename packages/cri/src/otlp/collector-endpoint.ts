import { PodwrightError } from '@podwright/base';
import type { CriEndpoint } from '../endpoint.ts';

/** Where spans are sent: OTLP over HTTP as JSON, or over gRPC. */
export type CollectorEndpoint = { kind: 'http'; url: URL } | { kind: 'grpc'; endpoint: CriEndpoint };

/** Where the OpenTelemetry collector listens for OTLP over gRPC. */
const GRPC_PORT = 4317;

/** What OTLP over HTTP has for traces where the endpoint names no path (OTLP 1.5, "OTLP/HTTP Request"). */
const TRACES_PATH = '/v1/traces';

/**
 * `http://HOST:PORT[/PATH]` and `https://…` are OTLP over HTTP; what KubeletConfiguration's `tracing.endpoint` may be, `HOST:PORT`,
 * `dns:///HOST:PORT` and `unix:///PATH`, is OTLP over gRPC without TLS. `invalid_argument` for anything else.
 */
export function parseCollectorEndpoint(text: string): CollectorEndpoint {
  const fail = (why: string) =>
    new PodwrightError(
      'invalid_argument',
      `collector of traces "${text}": ${why}; use http://HOST:PORT, HOST:PORT (gRPC) or unix:///PATH (gRPC)`,
    );
  const scheme = /^([a-z][a-z-]*):\/\//.exec(text)?.[1];
  if (scheme === 'http' || scheme === 'https') {
    if (!URL.canParse(text)) throw fail('it is no URL');
    const url = new URL(text);
    if (url.pathname === '/') url.pathname = TRACES_PATH;
    return { kind: 'http', url };
  }
  if (scheme === 'unix') {
    const path = text.slice('unix://'.length);
    if (!path.startsWith('/')) throw fail('the path is not absolute');
    return { kind: 'grpc', endpoint: { kind: 'unix', path } };
  }
  if (scheme !== undefined && scheme !== 'dns') throw fail(`there is no way "${scheme}"`);
  const authority = text.replace(/^dns:\/\/\/?/, '');
  const [, host, port = String(GRPC_PORT)] =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (host === undefined) throw fail('it is no host with a port');
  if (Number(port) === 0 || Number(port) > 65_535) throw fail(`there is no port ${port}`);
  return { kind: 'grpc', endpoint: { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port: Number(port) } };
}
