/**
 * Channel numbers, the first byte of each message on a command's WebSocket (k8s.io/apimachinery remotecommand). In a `close` message, added
 * in v5, the next byte is the number of the channel that the sender closes.
 */
export const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Encodes a WebSocket message for a channel: binary, or, for the base64 protocols, a digit followed by base64 text. */
export function encodeMessage(channel: number, payload: Buffer, base64: boolean): Buffer | string {
  if (base64) return `${String.fromCharCode(0x30 + channel)}${payload.toString('base64')}`;
  return Buffer.concat([Buffer.from([channel]), payload]);
}

/** Decodes a WebSocket message; returns `undefined` if it has no channel number. */
export function decodeMessage(message: Buffer, base64: boolean): { channel: number; payload: Buffer } | undefined {
  const first = message[0];
  if (first === undefined) return undefined;
  if (!base64) return { channel: first, payload: message.subarray(1) };
  if (first < 0x30) return undefined;
  return { channel: first - 0x30, payload: Buffer.from(message.toString('latin1', 1), 'base64') };
}
