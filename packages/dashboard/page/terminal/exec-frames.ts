/** Messages of the WebSocket subprotocol v5.channel.k8s.io: the first byte is the channel, the rest is data. Pure functions. */

export const EXEC_PROTOCOL = 'v5.channel.k8s.io';

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export type ExecMessage =
  | { kind: 'output'; data: Uint8Array }
  /** The program has exited. `message` describes the failure, and is undefined on success. */
  | { kind: 'end'; message?: string };

const encoder = new TextEncoder();

function frame(channel: number, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 1);
  bytes[0] = channel;
  bytes.set(data, 1);
  return bytes;
}

/** Returns the message that sends text to the program's standard input. */
export const inputFrame = (text: string): Uint8Array<ArrayBuffer> => frame(CHANNELS.stdin, encoder.encode(text));

/** Like `inputFrame`, for a string with one character per byte. xterm.js reports mouse events in this form. */
export const binaryFrame = (text: string): Uint8Array<ArrayBuffer> =>
  frame(
    CHANNELS.stdin,
    Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff),
  );

/** Returns the message that resizes the program's terminal. The size is in characters. */
export const resizeFrame = ({ columns, rows }: { columns: number; rows: number }): Uint8Array<ArrayBuffer> =>
  frame(CHANNELS.resize, encoder.encode(JSON.stringify({ Width: columns, Height: rows })));

/** Decodes a message from the server. Returns undefined for other channels and empty output. */
export function execMessage(bytes: Uint8Array): ExecMessage | undefined {
  const [channel] = bytes;
  const data = bytes.subarray(1);
  if (channel === CHANNELS.stdout || channel === CHANNELS.stderr)
    return data.length === 0 ? undefined : { kind: 'output', data };
  if (channel !== CHANNELS.error) return undefined;
  return { kind: 'end', message: failureOf(new TextDecoder().decode(data)) };
}

type Status = { status?: string; message?: string; details?: { causes?: { reason?: string; message?: string }[] } };

/** Returns a description of the failure in the Status sent on the error channel, or undefined on success. */
function failureOf(text: string): string | undefined {
  try {
    const { status, message, details } = JSON.parse(text) as Status;
    if (status === 'Success') return undefined;
    const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
    return code === undefined ? (message ?? 'the program failed') : `exit code ${code}`;
  } catch {
    return text;
  }
}
