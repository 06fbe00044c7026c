/**
 * Subprotocols of Kubernetes' streaming servers (k8s.io/apimachinery remotecommand, k8s.io/streaming wsstream). v5, which can close a
 * single channel, exists only over WebSocket. A client that names no subprotocol gets the oldest one.
 */
export const SPDY_COMMAND_PROTOCOLS = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
export const WEBSOCKET_COMMAND_PROTOCOLS = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  '',
];
export const SPDY_PORT_FORWARD = 'portforward.k8s.io';
/** WebSocket subprotocol whose messages contain the bytes of a SPDY connection. */
export const TUNNELLED_PORT_FORWARD = 'SPDY/3.1+portforward.k8s.io';
/** WebSocket subprotocols with two channels per port. The ports are fixed from the start. */
export const CHANNEL_PORT_FORWARD_PROTOCOLS = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', ''];

/** Returns the first protocol offered by the client that the server supports; `undefined` if there is none. */
export function chooseProtocol(offered: string[], spoken: string[]): string | undefined {
  return offered.find((protocol) => spoken.includes(protocol));
}

/** Splits a header's values. The header may be repeated, and each occurrence may be a list. */
export function headerValues(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

const STRUCTURED = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'];

export const hasStructuredStatus = (protocol: string): boolean => STRUCTURED.includes(protocol);
/** Whether the protocol has a resize stream over SPDY. Over WebSocket there is always a resize channel. */
export const hasResize = (protocol: string): boolean =>
  hasStructuredStatus(protocol) || protocol === 'v3.channel.k8s.io';
export const hasHalfClose = (protocol: string): boolean => protocol === 'v5.channel.k8s.io';
export const isBase64 = (protocol: string): boolean => protocol.endsWith('base64.channel.k8s.io');
