import { broken, FIRST_WINDOW_BYTES, FRAME_TYPE, frame, MOST_WINDOW_BYTES } from '../http2/frames.ts';
import { MAX_HEADER_LIST_BYTES } from '../http2/header-blocks.ts';

/** The settings that matter to a client (RFC 9113, 6.5.2). */
const SETTING = { enablePush: 2, maxConcurrentStreams: 3, initialWindowSize: 4, maxHeaderListSize: 6 } as const;
const SETTING_BYTES = 6;

/** What the other side has set, and before that what HTTP/2 says. */
export class PeerSettings {
  /** Streams that it takes at once. */
  maxStreams = Number.POSITIVE_INFINITY;
  /** How much of a request it takes at once. */
  windowBytes = FIRST_WINDOW_BYTES;

  /** The frame of a client's own settings. */
  static ours(windowBytes: number): Buffer {
    const settings = [
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, windowBytes],
      [SETTING.maxHeaderListSize, MAX_HEADER_LIST_BYTES],
    ] as const;
    const payload = Buffer.alloc(settings.length * SETTING_BYTES);
    for (const [index, [setting, value]] of settings.entries()) {
      payload.writeUInt16BE(setting, index * SETTING_BYTES);
      payload.writeUInt32BE(value, index * SETTING_BYTES + 2);
    }
    return frame({ type: FRAME_TYPE.settings }, payload);
  }

  /** Takes the payload of a SETTINGS frame. Throws `invalid_argument` for what is none. */
  apply(payload: Buffer): void {
    if (payload.length % SETTING_BYTES !== 0) throw broken('settings cut');
    for (let at = 0; at < payload.length; at += SETTING_BYTES) {
      const value = payload.readUInt32BE(at + 2);
      const setting = payload.readUInt16BE(at);
      if (setting === SETTING.maxConcurrentStreams) this.maxStreams = value;
      if (setting !== SETTING.initialWindowSize) continue;
      if (value > MOST_WINDOW_BYTES) throw broken('a window that is too large');
      this.windowBytes = value;
    }
  }
}
