/**
 * Subprotocols, best first (k8s.io/apimachinery/pkg/util/remotecommand and k8s.io/streaming).
 * v5 adds closing a single channel and exists on WebSocket only.
 */
export const SPDY_COMMAND_PROTOCOLS = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
export const WEBSOCKET_COMMAND_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'channel.k8s.io', ''];
export const SPDY_PORT_FORWARD = 'portforward.k8s.io';
/** A WebSocket whose messages carry the bytes of a SPDY connection. */
export const TUNNELLED_PORT_FORWARD = 'SPDY/3.1+portforward.k8s.io';

/** The first of the client's wishes that the server speaks. */
export function chooseProtocol(offered: string[], spoken: string[]): string | undefined {
  return offered.find((protocol) => spoken.includes(protocol));
}

/** Splits a header that may come several times and hold lists. */
export function headerValues(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

export const hasStructuredStatus = (protocol: string): boolean =>
  protocol === 'v4.channel.k8s.io' || protocol === 'v5.channel.k8s.io';
export const hasResize = (protocol: string): boolean =>
  hasStructuredStatus(protocol) || protocol === 'v3.channel.k8s.io';
