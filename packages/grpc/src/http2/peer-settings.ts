import { broken, END_CODE } from './end-codes.ts';
import {
  FIRST_WINDOW_BYTES,
  FRAME_TYPE,
  frame,
  MAX_FRAME_BYTES,
  MOST_FRAME_BYTES,
  MOST_WINDOW_BYTES,
} from './frames.ts';

/** The settings that this implementation uses (RFC 9113, 6.5.2). */
const SETTING = {
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;
const SETTING_BYTES = 6;

/** Encodes a SETTINGS frame with these settings. The frame leaves all other settings at their defaults. */
export function settingsFrame(settings: Partial<Record<keyof typeof SETTING, number>>): Buffer {
  const pairs = Object.entries(settings) as [keyof typeof SETTING, number][];
  const payload = Buffer.alloc(pairs.length * SETTING_BYTES);
  for (const [index, [name, value]] of pairs.entries()) {
    payload.writeUInt16BE(SETTING[name], index * SETTING_BYTES);
    payload.writeUInt32BE(value, index * SETTING_BYTES + 2);
  }
  return frame({ type: FRAME_TYPE.settings }, payload);
}

/** The peer's settings, initially HTTP/2's defaults. */
export class PeerSettings {
  /** SETTINGS_MAX_CONCURRENT_STREAMS. */
  maxStreams = Number.POSITIVE_INFINITY;
  /** SETTINGS_INITIAL_WINDOW_SIZE. */
  windowBytes = FIRST_WINDOW_BYTES;

  /** Applies the payload of a SETTINGS frame. Throws `invalid_argument` if it is invalid. */
  apply(payload: Buffer): void {
    if (payload.length % SETTING_BYTES !== 0) throw broken('settings cut', END_CODE.frameSizeError);
    for (let at = 0; at < payload.length; at += SETTING_BYTES)
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  }

  #set(setting: number, value: number): void {
    switch (setting) {
      case SETTING.enablePush:
        if (value > 1) throw broken(`a setting of push to ${value}`);
        break;
      case SETTING.maxConcurrentStreams:
        this.maxStreams = value;
        break;
      case SETTING.initialWindowSize:
        if (value > MOST_WINDOW_BYTES) throw broken('a window that is too large', END_CODE.flowControlError);
        this.windowBytes = value;
        break;
      case SETTING.maxFrameSize: // not stored: this implementation sends frames of the default size only
        if (value < MAX_FRAME_BYTES || value > MOST_FRAME_BYTES) throw broken(`frames of at most ${value} bytes`);
    }
  }
}
